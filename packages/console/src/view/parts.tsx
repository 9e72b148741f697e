/** Small parts of all pages: states, times, hashes, tables, empty lists. @module */
import type { Child } from 'hono/jsx'
import { shortenHex, showText } from './text.js'

export const base = '/console'

type Tone = 'good' | 'bad' | 'wait' | 'plain' | 'warn' | 'violet'

const wordsByTone: Readonly<Record<Tone, string>> = {
  good: 'success delivered applied healthy',
  bad: 'failure exhausted missing blocked rejected refund_failure',
  wait: 'pending waiting',
  warn: 'failing refund_pending',
  violet: 'refund_success',
  plain: 'superseded unchanged',
}
const tones = new Map(
  Object.entries(wordsByTone).flatMap(([tone, list]) => list.split(' ').map((word) => [word, tone as Tone] as const)),
)

export function Badge({ word, tone = tones.get(word) ?? 'plain' }: { word: string; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{word.replaceAll('_', ' ')}</span>
}

export const EnabledBadge = ({ enabled }: { enabled: boolean }) => (
  <Badge word={enabled ? 'enabled' : 'disabled'} tone={enabled ? 'good' : 'bad'} />
)

/** A time in UTC: shows the time of day; the tooltip and the machine-readable value hold the date too. */
export function When({ at, withDate = false }: { at: number | null; withDate?: boolean }) {
  if (at === null) return <span class="dim">unknown</span>
  const iso = new Date(at).toISOString()
  const day = iso.slice(0, 10)
  return (
    <time datetime={iso} title={`${iso} (UTC)`}>
      {withDate ? <span class="dim">{day} </span> : null}
      {iso.slice(11, 19)}
    </time>
  )
}

/** A hash or address with a copy button, shortened unless `isWhole` is set. */
export function Hex({ value, href, isWhole = false }: { value: string; href?: string; isWhole?: boolean }) {
  const text = isWhole ? showText(value) : shortenHex(value)
  const kind = isWhole ? 'hex whole' : 'hex'
  return (
    <span class="copied">
      {href === undefined ? (
        <code title={value} class={kind}>
          {text}
        </code>
      ) : (
        <a href={href} title={value} class={kind}>
          {text}
        </a>
      )}
      <button type="button" class="copy-hex" data-copy={value} title="Copy" tabindex={-1} aria-label={`Copy ${text}`}>
        ⧉
      </button>
    </span>
  )
}

/** Shows text that may be hostile: escaped, and cut after `max` characters. */
export const Shown = ({ text, max }: { text: string; max?: number }) => <>{showText(text, max)}</>

export const Problem = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="note bad" role="alert">
      <Shown text={text} max={400} />
    </p>
  )

export const paymentPath = ({ chainId, txHash }: { chainId: number | string; txHash: string }) =>
  `/payments/${chainId}/${txHash}`

/** Creates a builder of URLs below a path, such as `/console`. Parameters without a value are omitted. */
export function createHrefBuilder(mountedAt: string) {
  return (path: string, parameters: Readonly<Record<string, string | number | null | undefined>> = {}): string => {
    const set = Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)] satisfies [string, string]],
    )
    return set.length === 0 ? `${mountedAt}${path}` : `${mountedAt}${path}?${new URLSearchParams(set)}`
  }
}

export const buildHref = createHrefBuilder(base)

/** A column: its title, its cell for a row, and `n` when its values are numbers. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => Child, kind?: 'n']

export interface RowProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly attributes?: ((row: Row) => Readonly<Record<string, string>>) | undefined
}

export function TableRow<Row>({ row, columns, attributes }: RowProps<Row> & { readonly row: Row }) {
  return (
    <tr {...attributes?.(row)}>
      {columns.map(([title, cell, kind = '']) => (
        <td data-label={title} class={kind}>
          <span>{cell(row)}</span>
        </td>
      ))}
    </tr>
  )
}

interface TableProps<Row> extends RowProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly id?: string
  readonly empty?: Child
}

/** A table that becomes a list of cards on a narrow screen. */
export function Table<Row>({ label, rows, id, empty, ...shape }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <div class="scroll">
      <table aria-label={label}>
        <thead>
          <tr>
            {shape.columns.map(([title, , kind = '']) => (
              <th scope="col" class={kind}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody id={id}>
          {rows.map((row) => (
            <TableRow row={row} {...shape} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const Dim = ({ children }: { children?: Child }) => <span class="dim">{children}</span>

export function Empty(props: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <p class="lead">{props.title}</p>
      {props.children}
    </div>
  )
}

export function Pre({ label, text, wrap = false }: { label: string; text: string; wrap?: boolean }) {
  return (
    <section class="frame" aria-label={label} tabindex={0}>
      <pre class={wrap ? 'wrap' : ''}>{text}</pre>
    </section>
  )
}

export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div class="copy">
      <Pre label={label} text={text} />
      <button type="button" data-copy>
        Copy
      </button>
    </div>
  )
}

/** A name and its value; `wide` gives the fact a whole line. */
export type FactRow = readonly [string, Child, 'wide'?]

export function Facts({ rows, kind = '' }: { rows: readonly FactRow[]; kind?: '' | 'wide' | 'wide settings' }) {
  return (
    <dl class={`facts ${kind}`}>
      {rows.map(([name, value, width]) => (
        <div class={width === 'wide' ? 'span' : ''}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Pager(props: { first: string | null; next: string | null; cut?: string | null; nextName?: string }) {
  if (props.first === null && props.next === null) return null
  return (
    <nav class="pager" aria-label="Pages">
      {props.first === null ? null : <a href={props.first}>Newest</a>}
      {props.cut ? <span class="dim">{props.cut}</span> : null}
      {props.next === null ? null : (
        <a href={props.next} rel="next">
          {props.nextName ?? (props.cut ? 'Look further back' : 'Older')}
        </a>
      )}
    </nav>
  )
}

interface NewSecrets {
  readonly title: string
  readonly section: string
  /** Path, below the base, of the page that the reader continues to. @default the section */
  readonly to?: string
  readonly secrets: Readonly<Record<string, string>>
  /** Builds the link to that page. @default links of the console */
  readonly toHref?: ((path: string) => string) | undefined
}

/** The content of the only page that shows new secrets: the answer to the form that made them. */
export const newSecretsPage = (
  { title, section, to = section, secrets, toHref = buildHref }: NewSecrets,
  instructions: Child,
) => ({
  title,
  section,
  body: (
    <>
      <h1>{title}</h1>
      <p class="note" role="status">
        This page shows {Object.keys(secrets).length === 1 ? 'it' : 'them'} once. Copy now: no other page shows secrets.
      </p>
      {Object.entries(secrets).map(([name, value]) => (
        <section>
          <h2>{name}</h2>
          <Copyable label={name} text={value} />
        </section>
      ))}
      <div>{instructions}</div>
      <p>
        <a href={toHref(to)}>Continue</a>
      </p>
    </>
  ),
})

/** The content of a page that shows one sentence, such as the reason for a rejection. */
export const sentencePage = (title: string, text: string, { section = '-', home = base, back = 'overview' } = {}) => ({
  title,
  section,
  body: (
    <>
      <h1>{title}</h1>
      <p>
        <Shown text={text} max={400} />
      </p>
      <p>
        <a href={home}>Back to the {back}</a>
      </p>
    </>
  ),
})
