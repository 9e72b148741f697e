/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Merges all events of a payment into one time line. @module */
import type { AttemptRecord, ConsoleUpdate, DeliveryView } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { findAdvice } from '../view/advice.js'
import { Badge, Dim, Hex, Pre, Shown, When } from '../view/parts.js'
import { Answer, attemptId, type DeliveryContext, showNextAttempt } from '../view/rows.js'
import { formatLatency, formatNumber, showText } from '../view/text.js'
import { sentHeaders, wasSent } from './signature.js'
import type { Snapshot } from './snapshots.js'

/** One entry of a time line. A processor update is stored without a time, and stands at the version that it met. */
type Entry = { readonly at: number | null } & (
  | { readonly kind: 'block' }
  | { readonly kind: 'version'; readonly version: number; readonly state: string | null }
  | { readonly kind: 'update'; readonly update: ConsoleUpdate }
  | {
      readonly kind: 'attempt'
      readonly delivery: DeliveryView
      readonly number: number
      readonly attempt: AttemptRecord
    }
  | { readonly kind: 'next'; readonly delivery: DeliveryView }
)

function buildTimeline(
  payment: StoredPayment,
  snapshots: readonly Snapshot[],
  updates: readonly ConsoleUpdate[],
  deliveries: readonly DeliveryView[],
): Entry[] {
  const created = new Map(deliveries.map(({ version, createdAt }) => [version, createdAt]))
  // An applied update created its version; any other update met the version.
  const findPlace = ({ version }: ConsoleUpdate) => version ?? Number.POSITIVE_INFINITY
  const entries: Entry[] = [{ kind: 'block', at: payment.blockTimestamp }]
  const versions = new Set([...snapshots.map(({ version }) => version), ...updates.map(findPlace)])
  for (const version of [...versions].sort((a, b) => a - b)) {
    const at = created.get(version) ?? null
    const group = updates.filter((update) => findPlace(update) === version)
    const isApplied = ({ outcome }: ConsoleUpdate) => outcome === 'applied'
    for (const update of group.filter(isApplied)) entries.push({ kind: 'update', at, update })
    const snapshot = snapshots.find((each) => each.version === version)
    if (snapshot !== undefined) entries.push({ kind: 'version', at, version, state: readState(snapshot) })
    for (const update of group.filter((each) => !isApplied(each))) entries.push({ kind: 'update', at: null, update })
  }
  for (const delivery of deliveries) {
    const { attempts, nextAttemptAt } = delivery
    for (const [index, attempt] of attempts.entries())
      entries.push({ kind: 'attempt', at: attempt.startedAt, delivery, number: index + 1, attempt })
    if (nextAttemptAt !== null) entries.push({ kind: 'next', at: nextAttemptAt, delivery })
  }
  return inOrder(entries)
}

/** Sorts entries by time; an entry without a time follows its predecessor. */
function inOrder(entries: readonly Entry[]): Entry[] {
  let before = Number.NEGATIVE_INFINITY
  const keyed = entries.map((entry) => {
    // The block comes first: its time is by the chain's clock, and cannot be compared with times of the service.
    const key = entry.kind === 'block' ? Number.NEGATIVE_INFINITY : (entry.at ?? before)
    before = Math.max(before, key)
    return { entry, key }
  })
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ entry }) => entry)
}

function readState({ text }: Snapshot): string | null {
  try {
    return (JSON.parse(text) as { state: string | null }).state
  } catch {
    return null
  }
}

const maxShown = 4_000

interface TimelineProps {
  readonly payment: StoredPayment
  readonly snapshots: readonly Snapshot[]
  readonly updates: readonly ConsoleUpdate[]
  readonly deliveries: readonly DeliveryView[]
  readonly context: DeliveryContext
}

export const Timeline = ({ payment, snapshots, updates, deliveries, context }: TimelineProps) => (
  <>
    <h2>Timeline</h2>
    <ol class="timeline">
      {buildTimeline(payment, snapshots, updates, deliveries).map((entry) => (
        <li class={entry.kind} id={entry.kind === 'attempt' ? attemptId(entry.delivery, entry.number) : undefined}>
          <span class="at">{entry.at === null ? <Dim>time not stored</Dim> : <When at={entry.at} withDate />}</span>
          <div>{describeEvent(entry, payment, context)}</div>
        </li>
      ))}
    </ol>
  </>
)

function describeEvent(entry: Entry, payment: StoredPayment, context: DeliveryContext): Child {
  switch (entry.kind) {
    case 'block':
      return (
        <>
          Mined in block {formatNumber(payment.blockNumber)} <Hex value={payment.blockHash} />, log {payment.logIndex}
        </>
      )
    case 'version':
      return (
        <>
          <strong>Version {entry.version}</strong> <Badge word={entry.state ?? 'no state'} />
        </>
      )
    case 'update':
      return <UpdateText update={entry.update} />
    case 'attempt':
      return <AttemptText {...entry} />
    case 'next':
      return (
        <>
          Next attempt of version {entry.delivery.version}: {showNextAttempt(entry.delivery, context)}
        </>
      )
  }
}

function AttemptText({ attempt, delivery, number }: Extract<Entry, { kind: 'attempt' }>) {
  const advice = findAdvice(attempt.status, attempt.reason)
  const name = `version ${delivery.version}, attempt ${number}`
  return (
    <>
      {name.replace('v', 'V')}
      {attempt.replay ? ' (replay)' : ''}: <Answer {...attempt} /> <Dim>{formatLatency(attempt.latencyMs)}</Dim>
      {advice === null ? null : <p class="dim">{advice}</p>}
      {wasSent(attempt) ? (
        <Folded title="Headers that were sent" of={name}>
          {sentHeaders(delivery.integrationAddress, attempt.startedAt)}
        </Folded>
      ) : (
        <p class="dim">Nothing was sent.</p>
      )}
      {attempt.excerpt ? (
        <Folded
          title="Start of the answer"
          of={name}
          wrap
          isOpen={advice !== null && number === delivery.attempts.length}
        >
          {showText(attempt.excerpt, maxShown)}
        </Folded>
      ) : null}
    </>
  )
}

const Folded = (props: { title: string; of: string; wrap?: boolean; isOpen?: boolean; children: string }) => (
  <details open={props.isOpen}>
    <summary>{props.title}</summary>
    <Pre label={`${props.title}, ${props.of}`} text={props.children} wrap={props.wrap ?? false} />
  </details>
)

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
        <Shown text={id} max={40} />
      </code>{' '}
      <Badge word={outcome} /> {change.join(', ')}
      {reason === null ? null : (
        <p class="dim">
          <Shown text={reason} max={400} />
        </p>
      )}
    </>
  )
}
