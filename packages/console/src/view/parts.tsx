/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Small parts of all pages: states, times, hashes, tables, empty lists. @module */
import type { DeliveryStatus } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { linksBelow } from '../web/paths.js'
import { shortHex, shownText } from './text.js'

/** Where the pages are mounted. */
export const base = '/console'

type Tone = 'good' | 'bad' | 'wait' | 'plain' | 'warn' | 'violet'

const tones: Readonly<Record<string, Tone>> = {
  success: 'good',
  delivered: 'good',
  applied: 'good',
  healthy: 'good',
  root: 'good',
  bloom: 'good',
  pending: 'wait',
  waiting: 'wait',
  failure: 'bad',
  exhausted: 'bad',
  missing: 'bad',
  blocked: 'bad',
  failing: 'warn',
  refused: 'bad',
  superseded: 'plain',
  unchanged: 'plain',
  refund_pending: 'warn',
  refund_success: 'violet',
  refund_failure: 'bad',
}

/** A status as a word with a colour. */
export function Badge({ word, tone = tones[word] ?? 'plain' }: { word: string; tone?: Tone }) {
  return <span class={`badge ${tone}`}>{word.replaceAll('_', ' ')}</span>
}

/** The status of a delivery. */
export const Status = ({ status }: { status: DeliveryStatus }) => <Badge word={status} />

/** A moment: the time of day, with the date in the tooltip and for machines. UTC. */
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

/** A hash or address: short, whole in the tooltip. */
export function Hex({ value, href }: { value: string; href?: string }) {
  const text = shortHex(value)
  return href === undefined ? (
    <code title={value}>{text}</code>
  ) : (
    <a href={href} title={value} class="hex">
      {text}
    </a>
  )
}

/** Text that may be hostile. */
export const Shown = ({ text, most }: { text: string; most?: number }) => <>{shownText(text, most)}</>

/** The path of a payment's page, below the base. */
export const paymentPath = ({ chainId, txHash }: { chainId: number | string; txHash: string }) =>
  `/payments/${chainId}/${txHash}`

/** The page of a payment. */
export const paymentHref = (payment: { chainId: number; txHash: string }) => `${base}${paymentPath(payment)}`

/** A URL of the console with these parameters. */
export const hrefOf = linksBelow(base)

/** A column: its title, and whether its values are numbers. */
export interface Column {
  readonly title: string
  readonly isNumber?: boolean
}

/** A table that becomes a list of cards on a narrow screen. */
export function Table(props: { label: string; columns: readonly Column[]; id?: string; children?: Child }) {
  return (
    <div class="scroll">
      <table aria-label={props.label}>
        <thead>
          <tr>
            {props.columns.map(({ title, isNumber }) => (
              <th scope="col" class={isNumber ? 'n' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody id={props.id}>{props.children}</tbody>
      </table>
    </div>
  )
}

/** A cell that keeps its column's title for narrow screens. */
export function Cell(props: { of: string; isNumber?: boolean; children?: Child }) {
  return (
    <td data-label={props.of} class={props.isNumber ? 'n' : ''}>
      <span>{props.children}</span>
    </td>
  )
}

/** An empty list: why it is empty, and what fills it. */
export function Empty(props: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <p class="lead">{props.title}</p>
      {props.children}
    </div>
  )
}

/** Preformatted text in a frame that scrolls, also by keys. */
export function Pre({ label, text, wrap = false }: { label: string; text: string; wrap?: boolean }) {
  return (
    <section class="frame" aria-label={label} tabindex={0}>
      <pre class={wrap ? 'wrap' : ''}>{text}</pre>
    </section>
  )
}

/** Text to copy. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div class="copy">
      <Pre label={label} text={text} />
      <button type="button" data-copy hidden>
        Copy
      </button>
    </div>
  )
}

/** A name and its value; one that is marked `wide` gets a line of its own. */
export type FactRow = readonly [string, Child, 'wide'?]

/** Names and values. */
export function Facts({ rows }: { rows: readonly FactRow[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value, width]) => (
        <div class={width === 'wide' ? 'span' : ''}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Links to the first and the next page. */
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

/** Secrets that are shown once. */
interface NewSecretsPageProps {
  readonly title: string
  /** Names and values. */
  readonly secrets: readonly (readonly [name: string, value: string])[]
  /** Path below the base to which one goes on. */
  readonly to: string
  /** Instructions. */
  readonly children?: Child
}

/** The page. */
export function NewSecretsPage({ title, secrets, to, children }: NewSecretsPageProps) {
  return (
    <>
      <h1>{title}</h1>
      <p class="note" role="status">
        This page shows {secrets.length === 1 ? 'it' : 'them'} once. Copy now: no other page ever shows it.
      </p>
      {secrets.map(([name, value]) => (
        <section>
          <h2>{name}</h2>
          <Copyable label={name} text={value} />
        </section>
      ))}
      {children}
      <p>
        <a href={hrefOf(to, {})}>Go on</a>
      </p>
    </>
  )
}
