/** Merges all events of a payment into one time line. @module */
import type { AttemptRecord, ConsoleUpdate, DeliveryView } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { findAdvice } from '../view/advice.js'
import { Badge, Dim, Hex, Pre, Shown, When } from '../view/parts.js'
import { Answer, attemptId, type DeliveryContext, findNextAttempt } from '../view/rows.js'
import { formatLatency, formatNumber, showText } from '../view/text.js'
import { sentHeaders, wasSent } from './signature.js'
import type { Snapshot } from './snapshots.js'

/** One entry of a time line. A processor's update is stored without a time, and stands at its stored version. */
interface Entry {
  readonly kind: 'block' | 'version' | 'update' | 'attempt' | 'next'
  readonly at: number | null
  readonly id?: string
  readonly content: Child
}

interface TimelineProps {
  readonly payment: StoredPayment
  readonly snapshots: readonly Snapshot[]
  readonly updates: readonly ConsoleUpdate[]
  readonly deliveries: readonly DeliveryView[]
  readonly context: DeliveryContext
}

function buildTimeline({ payment, snapshots, updates, deliveries, context }: TimelineProps): Entry[] {
  const created = new Map(deliveries.map(({ version, createdAt }) => [version, createdAt]))
  // An applied update created its version, any other one found it. An update without a version comes last.
  const findVersion = ({ version }: ConsoleUpdate) => version ?? Number.POSITIVE_INFINITY
  const block = (
    <>
      Mined in block {formatNumber(payment.blockNumber)} <Hex value={payment.blockHash} />, log {payment.logIndex}
    </>
  )
  const entries: Entry[] = []
  const addUpdates = (at: number | null, added: readonly ConsoleUpdate[]) => {
    for (const update of added) entries.push({ kind: 'update', at, content: <UpdateText update={update} /> })
  }
  const versions = new Set([...snapshots.map(({ version }) => version), ...updates.map(findVersion)])
  for (const version of [...versions].sort((a, b) => a - b)) {
    const at = created.get(version) ?? null
    const group = updates.filter((update) => findVersion(update) === version)
    const applied = group.filter(({ outcome }) => outcome === 'applied')
    addUpdates(at, applied)
    const snapshot = snapshots.find((each) => each.version === version)
    if (snapshot !== undefined) entries.push({ kind: 'version', at, content: <VersionText snapshot={snapshot} /> })
    const others = group.filter((update) => !applied.includes(update))
    addUpdates(null, others)
  }
  for (const delivery of deliveries) {
    for (const [index, attempt] of delivery.attempts.entries()) {
      const content = <AttemptText {...{ attempt, delivery }} number={index + 1} />
      entries.push({ kind: 'attempt', at: attempt.startedAt, id: attemptId(delivery, index + 1), content })
    }
    const next = findNextAttempt(delivery, context)
    if (next === null) continue
    const content = (
      <>
        Next attempt of version {delivery.version}
        {next.note && <>: {next.note}</>}
      </>
    )
    entries.push({ kind: 'next', at: next.at, content })
  }
  // The block comes first: its time is by the chain's clock, and cannot be compared with times of the service.
  return [{ kind: 'block', at: payment.blockTimestamp, content: block }, ...sortByTime(entries)]
}

/** Sorts entries by time; an entry without a time follows the latest one before it. */
function sortByTime(entries: readonly Entry[]): Entry[] {
  let latest = Number.NEGATIVE_INFINITY
  const keyed = entries.map((entry) => {
    const key = entry.at ?? latest
    latest = Math.max(latest, key)
    return { entry, key }
  })
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ entry }) => entry)
}

function VersionText({ snapshot: { version, text } }: { snapshot: Snapshot }) {
  return (
    <>
      <strong>Version {version}</strong> <Badge word={readState(text) ?? 'no state'} />
    </>
  )
}

function readState(snapshot: string): string | null {
  try {
    return (JSON.parse(snapshot) as { state: string | null }).state
  } catch {
    return null
  }
}

const maxShown = 4_000

export const Timeline = (props: TimelineProps) => (
  <>
    <h2>Timeline</h2>
    <ol class="timeline">
      {buildTimeline(props).map(({ kind, at, id, content }) => (
        <li class={kind} id={id}>
          <span class="at">{at === null ? <Dim>time not stored</Dim> : <When at={at} withDate />}</span>
          <div>{content}</div>
        </li>
      ))}
    </ol>
  </>
)

function AttemptText(props: { attempt: AttemptRecord; delivery: DeliveryView; number: number }) {
  const { attempt, delivery, number } = props
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
