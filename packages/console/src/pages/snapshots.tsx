/** A payment's snapshots: compares any two, and shows the bytes that are sent. @module */
import type { StoredSnapshot } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { parseWholeNumber, type QueryFields } from '../filters.js'
import { Empty, Pre } from '../view/parts.js'
import { formatNumber, showText } from '../view/text.js'

export interface Snapshot {
  readonly version: number
  /** The exact bytes that are sent, as text. */
  readonly text: string
  readonly bytes: number
}

const maxSnapshots = 50

/** The versions to compare; null: the last two. */
export type Compared = readonly [number, number] | null

/** Reads the versions from the parameters `a` and `b`. @throws FilterError When one is not a whole number. */
export function parseCompared({ a, b }: QueryFields): Compared {
  return a === undefined || b === undefined ? null : [parseWholeNumber('a', a), parseWholeNumber('b', b)]
}

export function listShownVersions({ version: newest }: Pick<StoredPayment, 'version'>, compared: Compared): number[] {
  const recent = Array.from({ length: Math.min(newest, maxSnapshots) }, (_, n) => newest - n)
  return [...recent, ...(compared ?? []).filter((version) => version >= 1 && version <= newest)]
}

export function readSnapshot({ version, body }: StoredSnapshot): Snapshot {
  return { version, text: new TextDecoder().decode(body), bytes: body.byteLength }
}

function findDifferences(left: Snapshot, right: Snapshot) {
  const [before, after] = [flattenFields(left), flattenFields(right)]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  // A change between null and an object is shown by the object's fields.
  const isParent = (field: string) => names.some((name) => name.startsWith(`${field}.`))
  return names
    .filter((field) => before.get(field) !== after.get(field) && !isParent(field))
    .map((field) => ({ field, before: before.get(field) ?? null, after: after.get(field) ?? null }))
}

function flattenFields({ text }: Snapshot): Map<string, string> {
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

const maxShown = 4_000

interface SnapshotsProps {
  readonly payment: Pick<StoredPayment, 'version'>
  /** The newest snapshots and the two to compare, oldest first. */
  readonly snapshots: readonly Snapshot[]
  readonly compare: Compared
  readonly action: string
}

export function Snapshots({ payment, snapshots, compare, action }: SnapshotsProps) {
  const newest = snapshots.at(-1)
  if (newest === undefined) return <Empty title="No snapshot is stored." />
  const compared = compare ?? [snapshots.at(-2)?.version ?? 0, newest.version]
  const [left, right] = compared.map((version) => snapshots.find((each) => each.version === version))
  const selected = right ?? newest
  const missing = compare?.find((one) => snapshots.every(({ version }) => version !== one))
  const isIncomplete = snapshots.length < payment.version
  return (
    <section id="snapshots">
      <h2>Snapshots</h2>
      {isIncomplete ? (
        <p class="dim">
          This page has {formatNumber(snapshots.length)} of {formatNumber(payment.version)} versions: the newest, and
          those that are compared. Compare any two by their numbers.
        </p>
      ) : null}
      {payment.version < 2 ? null : (
        <form class="filters" method="get" action={`${action}#snapshots`}>
          {(['a', 'b'] as const).map((name, side) => (
            <label>
              <span>{side === 0 ? 'Compare version' : 'with version'}</span>
              <input name={name} type="number" min={1} max={payment.version} value={`${compared[side]}`} required />
            </label>
          ))}
          <button type="submit">Compare</button>
        </form>
      )}
      {missing === undefined ? null : <p class="note">Version {missing} is not stored.</p>}
      {left === undefined || right === undefined ? null : <Diff left={left} right={right} />}
      <details open={snapshots.length === 1}>
        <summary>
          Version {selected.version} as it is sent, {formatNumber(selected.bytes)} bytes
        </summary>
        <Pre label="The snapshot" text={showText(selected.text, maxShown)} wrap />
      </details>
    </section>
  )
}

function Diff({ left, right }: { left: Snapshot; right: Snapshot }) {
  const changed = findDifferences(left, right)
  if (changed.length === 0) return <p class="dim">Both snapshots have the same fields.</p>
  return (
    <dl class="diff">
      {changed.map(({ field, before, after }) => (
        <div>
          <dt>{showText(field, 60)}</dt>
          <dd>
            {before === null ? <del class="dim">absent</del> : <del>{showText(before)}</del>}{' '}
            <ins>{after === null ? 'absent' : showText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
