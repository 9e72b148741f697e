/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** A payment's snapshots: any two compared, and the bytes as they are sent. @module */
import { Empty, Pre, paymentHref } from '../view/parts.js'
import { grouped, shownText } from '../view/text.js'
import { differences, type Snapshot } from './timeline.js'

/** Characters of a snapshot that a page shows. */
const mostShown = 4_000

/** The snapshots of a payment. */
export interface SnapshotsProps {
  readonly payment: { readonly chainId: number; readonly txHash: string }
  /** Oldest first. */
  readonly snapshots: readonly Snapshot[]
  /** The versions to compare; null: the last two. */
  readonly compare: readonly [number, number] | null
  /** The page's own path, for the form that compares. @default the console's page of the payment */
  readonly action?: string | undefined
}

/** The section of the snapshots. */
export function Snapshots({ payment, snapshots, compare, action = paymentHref(payment) }: SnapshotsProps) {
  if (snapshots.length === 0) return <Empty title="No snapshot is stored." />
  const [newest] = snapshots.slice(-1)
  const [a, b] = compare ?? [snapshots.at(-2)?.version ?? 0, newest?.version ?? 0]
  const [left, right] = [a, b].map((version) => snapshots.find((each) => each.version === version))
  const shown = right ?? newest
  return (
    <section id="snapshots">
      <h2>Snapshots</h2>
      {snapshots.length < 2 ? null : (
        <form class="filters" method="get" action={`${action}#snapshots`}>
          {(['a', 'b'] as const).map((name, side) => (
            <label for={`side-${name}`}>
              <span>{side === 0 ? 'Compare version' : 'with version'}</span>
              <select id={`side-${name}`} name={name}>
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
          <Pre label="The snapshot" text={shownText(shown.text, mostShown)} wrap />
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
            <del>{before === null ? 'absent' : shownText(before)}</del>{' '}
            <ins>{after === null ? 'absent' : shownText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
