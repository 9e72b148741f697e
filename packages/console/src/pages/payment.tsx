/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment: its facts, one time line, and its snapshots. @module */
import type { DeliveryView, StoredPayment, StoredUpdate } from '@payment-integration/core/ports'
import { adviceOf } from '../advice.js'
import { Badge, Empty, Facts, Hex, hrefOf, paymentHref, Shown, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { grouped, latencyOf, memoOf, shownText, unitsOf } from '../view/text.js'
import { Signature } from './signature.js'
import { differences, type Entry, type Snapshot, timelineOf } from './timeline.js'

/** Characters of a snapshot or an excerpt that a page shows. */
const mostShown = 4_000

/** A payment with everything that is stored about it. */
export interface PaymentDetail {
  readonly payment: StoredPayment
  /** Other payments of its transaction. */
  readonly others: readonly StoredPayment[]
  readonly snapshots: readonly Snapshot[]
  readonly updates: readonly StoredUpdate[]
  readonly deliveries: readonly DeliveryView[]
  /** The versions to compare; null: the last two. */
  readonly compare: readonly [number, number] | null
  readonly now: number
}

/** The page. */
export function PaymentPage(detail: PaymentDetail) {
  const { payment, snapshots, updates, deliveries, now } = detail
  const last = deliveries.flatMap((each) => each.attempts.slice(-1).map((attempt) => ({ ...attempt, of: each.version }))).at(-1)
  const signed = snapshots.find(({ version }) => version === last?.of)
  return (
    <>
      <h1>
        Payment <Hex value={payment.txHash} /> <Badge word={payment.state ?? 'none'} />
      </h1>
      {payment.offChain ? (
        <p class="note bad">Its block left the chain, and no later block contains it so far.</p>
      ) : null}
      <PaymentFacts payment={payment} />
      {detail.others.length === 0 ? null : (
        <p class="note">
          Its transaction has {detail.others.length} more payment{detail.others.length > 1 ? 's' : ''}; the legacy look-up
          shows all of them.
        </p>
      )}
      <h2>Time line</h2>
      <ol class="timeline">
        {timelineOf(payment, snapshots, updates, deliveries).map((entry) => (
          <TimelineEntry entry={entry} payment={payment} />
        ))}
      </ol>
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery: {payment.integrationAddress === null ? 'the payment names no integration' : 'its integration had no notification URL'}.
        </p>
      ) : null}
      <Snapshots {...detail} />
      {signed === undefined || last === undefined ? null : (
        <Signature snapshot={signed} startedAt={last.startedAt} now={now} />
      )}
    </>
  )
}

function PaymentFacts({ payment }: { payment: StoredPayment }) {
  const { tokenIn, tokenOut, invoice, recipient, source, integrationAddress } = payment
  return (
    <Facts
      rows={[
        ['Transaction', <code class="whole">{payment.txHash}</code>],
        ['Chain', <a href={hrefOf('/payments', { chain: payment.chainId })}>{payment.chainId}</a>],
        ['Version', payment.version],
        ['Received', <>{unitsOf(tokenOut.net, tokenOut.decimals)} <Shown text={tokenOut.symbol ?? ''} most={16} /> net, {unitsOf(tokenOut.gross, tokenOut.decimals)} gross</>],
        ['Paid', <>{unitsOf(tokenIn.amount, tokenIn.decimals)} <Shown text={tokenIn.symbol ?? ''} most={16} /> on chain {source.chainId}</>],
        ['Source', <code class="whole">{source.txHash}</code>],
        ['Invoice', invoice === null ? 'none' : `${invoice.amount} ${invoice.currency}, settled as ${invoice.settlementAmount} ${invoice.settlementCurrency}`],
        ['Recipient', recipient === null ? 'none' : <><Shown text={recipient.title} /> <span class="dim"><Shown text={recipient.subtitle ?? ''} /></span></>],
        ['Memo', <Shown text={memoOf(payment.memoHex)} />],
        ['Sender', <Hex value={payment.sender} href={hrefOf('/payments', { q: payment.sender })} />],
        ['Receiver', <Hex value={payment.receiver} href={hrefOf('/payments', { q: payment.receiver })} />],
        ['Integration', integrationAddress === null ? 'none' : <Hex value={integrationAddress} href={hrefOf('/payments', { integration: integrationAddress })} />],
      ]}
    />
  )
}

function TimelineEntry({ entry, payment }: { entry: Entry; payment: StoredPayment }) {
  return (
    <li class={entry.kind}>
      <span class="at">{entry.at === null ? <span class="dim">then</span> : <When at={entry.at} withDate />}</span>
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
      const { attempt, version, number } = entry
      const advice = adviceOf(attempt.status, attempt.reason)
      return (
        <>
          Version {version}, attempt {number}
          {attempt.replay ? ' (replay)' : ''}: <Answer {...attempt} /> <span class="dim">{latencyOf(attempt.latencyMs)}</span>
          {advice === null ? null : (
            <p class="dim">
              {advice.cause} {advice.remedy}
            </p>
          )}
          {attempt.excerpt ? (
            <details>
              <summary>Start of the answer</summary>
              <pre tabindex={0} aria-label="Start of the answer">{shownText(attempt.excerpt, mostShown)}</pre>
            </details>
          ) : null}
        </>
      )
    }
    case 'next':
      return <>Next attempt of version {entry.version} is due</>
  }
}

function UpdateText({ update: { update, outcome, reason } }: { update: StoredUpdate }) {
  const change = [
    update.state === undefined ? null : `state ${update.state ?? 'none'}`,
    update.invoice === undefined ? null : 'invoice',
    update.recipient === undefined ? null : 'recipient',
  ].filter((each) => each !== null)
  return (
    <>
      Update <code><Shown text={update.id} most={40} /></code> <Badge word={outcome} /> {change.join(', ')}
      {reason === null ? null : (
        <p class="dim">
          <Shown text={reason} most={400} />
        </p>
      )}
    </>
  )
}

function Snapshots({ payment, snapshots, compare }: PaymentDetail) {
  if (snapshots.length === 0) return <Empty title="No snapshot is stored." />
  const [newest] = snapshots.slice(-1)
  const [a, b] = compare ?? [snapshots.at(-2)?.version ?? 0, newest?.version ?? 0]
  const [left, right] = [a, b].map((version) => snapshots.find((each) => each.version === version))
  const shown = right ?? newest
  return (
    <section id="snapshots">
      <h2>Snapshots</h2>
      {snapshots.length < 2 ? null : (
        <form class="filters" method="get" action={`${paymentHref(payment)}#snapshots`}>
          {(['a', 'b'] as const).map((name, side) => (
            <label>
              <span>{side === 0 ? 'Compare version' : 'with version'}</span>
              <select name={name}>
                {snapshots.map(({ version }) => (
                  <option value={String(version)} selected={version === (side === 0 ? a : b)}>
                    {version}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <button type="submit">Compare</button>
        </form>
      )}
      {left === undefined || right === undefined ? null : <Diff left={left} right={right} />}
      {shown === undefined ? null : (
        <details open={snapshots.length === 1}>
          <summary>
            Version {shown.version} as it is sent, {grouped(shown.bytes)} bytes
          </summary>
          <pre class="wrap" tabindex={0} aria-label="The snapshot">{shownText(shown.text, mostShown)}</pre>
        </details>
      )}
    </section>
  )
}

function Diff({ left, right }: { left: Snapshot; right: Snapshot }) {
  const changed = differences(left, right)
  if (changed.length === 0) return <p class="dim">Both snapshots have the same fields.</p>
  return (
    <dl class="diff">
      {changed.map(({ field, before, after }) => (
        <div>
          <dt>{shownText(field, 60)}</dt>
          <dd>
            <del>{before === null ? 'absent' : shownText(before)}</del> <ins>{after === null ? 'absent' : shownText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
