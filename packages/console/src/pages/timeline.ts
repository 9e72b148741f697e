/** Orders everything that happened to a payment on one time line. @module */
import type { AttemptRecord, ConsoleUpdate, DeliveryView, StoredPayment } from '@payment-integration/core/ports'

/** One entry. Processor updates are stored without their time: they stand at the version that they met. */
export type Entry = { readonly at: number | null } & (
  | { readonly kind: 'block' }
  | { readonly kind: 'version'; readonly version: number; readonly state: string | null }
  | { readonly kind: 'update'; readonly update: ConsoleUpdate }
  | {
      readonly kind: 'attempt'
      readonly delivery: DeliveryView
      /** From 1. */
      readonly number: number
      readonly attempt: AttemptRecord
    }
  | { readonly kind: 'next'; readonly version: number }
)

/** A stored snapshot. */
export interface Snapshot {
  readonly version: number
  /** Exactly the bytes that are sent, as text. */
  readonly text: string
  readonly bytes: number
}

/** The entries, oldest first. */
export function timelineOf(
  payment: StoredPayment,
  snapshots: readonly Snapshot[],
  updates: readonly ConsoleUpdate[],
  deliveries: readonly DeliveryView[],
): Entry[] {
  const created = new Map(deliveries.map(({ version, createdAt }) => [version, createdAt]))
  const made = new Map<number, ConsoleUpdate[]>()
  for (const update of updates) {
    // An applied update made its version; another one met it.
    const place = update.version === null ? Number.POSITIVE_INFINITY : update.version
    made.set(place, [...(made.get(place) ?? []), update])
  }
  const entries: Entry[] = [{ kind: 'block', at: payment.blockTimestamp }]
  const versions = new Set([...snapshots.map(({ version }) => version), ...made.keys()])
  for (const version of [...versions].sort((a, b) => a - b)) {
    const at = created.get(version) ?? null
    const own = made.get(version) ?? []
    const isApplied = ({ outcome }: ConsoleUpdate) => outcome === 'applied'
    for (const update of own.filter(isApplied)) entries.push({ kind: 'update', at, update })
    const snapshot = snapshots.find((each) => each.version === version)
    if (snapshot !== undefined) entries.push({ kind: 'version', at, version, state: stateOf(snapshot) })
    for (const update of own.filter((each) => !isApplied(each))) entries.push({ kind: 'update', at: null, update })
  }
  for (const delivery of deliveries) {
    const { version, attempts, nextAttemptAt } = delivery
    for (const [index, attempt] of attempts.entries())
      entries.push({ kind: 'attempt', at: attempt.startedAt, delivery, number: index + 1, attempt })
    if (nextAttemptAt !== null) entries.push({ kind: 'next', at: nextAttemptAt, version })
  }
  return inOrder(entries)
}

/** Sorts by time; an entry without one follows the entry before it. */
function inOrder(entries: readonly Entry[]): Entry[] {
  let before = Number.NEGATIVE_INFINITY
  const keyed = entries.map((entry) => {
    // A block's time is by the chain's clock, the others are by this service's.
    const key = entry.kind === 'block' ? Number.NEGATIVE_INFINITY : (entry.at ?? before)
    before = Math.max(before, key)
    return { entry, key }
  })
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ entry }) => entry)
}

function stateOf({ text }: Snapshot): string | null {
  try {
    return (JSON.parse(text) as { state: string | null }).state
  } catch {
    return null
  }
}

/** A field that differs between two snapshots. */
export interface Difference {
  readonly field: string
  readonly before: string | null
  readonly after: string | null
}

/** The fields of two snapshots that differ; a missing field is null. */
export function differences(a: Snapshot, b: Snapshot): Difference[] {
  const [before, after] = [fieldsOf(a), fieldsOf(b)]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  // An object that was null shows by its fields.
  const isParent = (field: string) => names.some((name) => name.startsWith(`${field}.`))
  return names
    .filter((field) => before.get(field) !== after.get(field) && !isParent(field))
    .map((field) => ({ field, before: before.get(field) ?? null, after: after.get(field) ?? null }))
}

function fieldsOf({ text }: Snapshot): Map<string, string> {
  const fields = new Map<string, string>()
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) fields.set(path, JSON.stringify(value))
    else for (const [name, each] of Object.entries(value)) visit(each, path === '' ? name : `${path}.${name}`)
  }
  try {
    visit(JSON.parse(text), '')
  } catch {
    fields.set('body', text)
  }
  return fields
}
