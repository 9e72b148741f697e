/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The entries of a payment's time line. @module */
import type { ConsoleUpdate, StoredPayment } from '@payment-integration/core/ports'
import { adviceOf } from '../advice.js'
import { Badge, Hex, Pre, Shown, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { grouped, latencyOf, shownText } from '../view/text.js'
import { sentHeaders, wasSent } from './sent-headers.js'
import type { Entry } from './timeline.js'

/** Characters of an excerpt that a page shows. */
const mostShown = 4_000

/** One entry. */
export function TimelineEntry({ entry, payment }: { entry: Entry; payment: StoredPayment }) {
  return (
    <li class={entry.kind}>
      <span class="at">
        {entry.at === null ? <span class="dim">time not stored</span> : <When at={entry.at} withDate />}
      </span>
      <div>
        <EntryText entry={entry} payment={payment} />
      </div>
    </li>
  )
}

function EntryText({ entry, payment }: { entry: Entry; payment: StoredPayment }) {
  switch (entry.kind) {
    case 'block':
      return (
        <>
          Block {grouped(payment.blockNumber)} <Hex value={payment.blockHash} /> contains it, log {payment.logIndex}
        </>
      )
    case 'version':
      return (
        <>
          <strong>Version {entry.version}</strong> <Badge word={entry.state ?? 'none'} />
        </>
      )
    case 'update':
      return <UpdateText update={entry.update} />
    case 'attempt': {
      const { attempt, delivery, number } = entry
      const advice = adviceOf(attempt.status, attempt.reason)
      return (
        <>
          Version {delivery.version}, attempt {number}
          {attempt.replay ? ' (replay)' : ''}: <Answer {...attempt} />{' '}
          <span class="dim">{latencyOf(attempt.latencyMs)}</span>
          {advice === null ? null : (
            <p class="dim">
              {advice.cause} {advice.remedy}
            </p>
          )}
          {wasSent(attempt) ? (
            <details>
              <summary>Headers that were sent</summary>
              <Pre label="Headers that were sent" text={sentHeaders(delivery.integrationAddress, attempt.startedAt)} />
            </details>
          ) : (
            <p class="dim">Nothing was sent.</p>
          )}
          {attempt.excerpt ? (
            <details>
              <summary>Start of the answer</summary>
              <Pre label="Start of the answer" text={shownText(attempt.excerpt, mostShown)} wrap />
            </details>
          ) : null}
        </>
      )
    }
    case 'next':
      return <>Next attempt of version {entry.version} is due</>
  }
}

function UpdateText({ update: { id, update, outcome, reason } }: { update: ConsoleUpdate }) {
  const { state, invoice, recipient } = update ?? {}
  const change = [
    state === undefined ? null : `state ${state ?? 'none'}`,
    invoice === undefined ? null : 'invoice',
    recipient === undefined ? null : 'recipient',
  ].filter((each) => each !== null)
  return (
    <>
      Update{' '}
      <code>
        <Shown text={id} most={40} />
      </code>{' '}
      <Badge word={outcome} /> {change.join(', ')}
      {reason === null ? null : (
        <p class="dim">
          <Shown text={reason} most={400} />
        </p>
      )}
    </>
  )
}
