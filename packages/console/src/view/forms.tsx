/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Forms: acts with their fields, for those who may act, and the filters of a list. @module */

import { parseInstant } from '@payment-integration/contract/parse'
import { type Child, createContext, useContext } from 'hono/jsx'
import type { Given } from '../filters.js'
import { mayAct, type Role, type Visit } from '../viewer.js'
import { base, hrefOf } from './parts.js'
import { shortHex, shownText } from './text.js'

/** The visit for which a page is rendered. */
export const VisitContext = createContext<Visit | null>(null)

/** The hidden field with the CSRF token. */
export function CsrfField() {
  return <input type="hidden" name="csrf" value={useContext(VisitContext)?.csrfToken ?? ''} />
}

/** A form that posts its fields. */
export interface PostFormProps {
  readonly action: string
  /** The word on the button. */
  readonly label: string
  /** Hidden fields. */
  readonly fields?: Readonly<Record<string, string | number | undefined>>
  readonly tone?: 'plain' | 'danger'
  /** Fields that people fill in, above the button. */
  readonly children?: Child
}

/** The form with its CSRF token. It works without JavaScript. */
export function PostForm({ action, label, fields = {}, tone = 'plain', children }: PostFormProps) {
  return (
    <form class="act" method="post" action={action}>
      <CsrfField />
      {Object.entries(fields).map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={String(value)} />,
      )}
      {children}
      <button type="submit" class={tone}>
        {label}
      </button>
    </form>
  )
}

/** The act of a form of the console. */
export interface ActFormProps extends Omit<PostFormProps, 'action'> {
  /** The act of `acts/acts.ts`. */
  readonly act: string
  readonly needs: Role
}

/** The form of an act; nothing for those who may not act. */
export function ActForm({ act, needs, ...form }: ActFormProps) {
  const visit = useContext(VisitContext)
  if (visit === null || !mayAct(visit.viewer.role, needs)) return null
  return <PostForm {...form} action={`${base}/act/${act}`} />
}

/** Shows its children to a role that may act; to others `otherwise`, if any. */
export function ForRole({ needs, otherwise, children }: { needs: Role; otherwise?: Child; children?: Child }) {
  const visit = useContext(VisitContext)
  return <>{visit !== null && mayAct(visit.viewer.role, needs) ? children : otherwise}</>
}

/** A line of text. */
export function TextField(props: {
  readonly name: string
  readonly label: string
  readonly value?: string | undefined
  readonly hint?: string | undefined
  readonly type?: 'text' | 'email' | 'url' | undefined
  readonly isOptional?: boolean | undefined
  /** Whether it holds an address or a URL. */
  readonly isLong?: boolean | undefined
}) {
  const { name, label, value = '', hint = '', type = 'text', isOptional = false, isLong = false } = props
  return (
    <label class={isLong ? 'long' : undefined}>
      <span>{label}</span>
      <input
        name={name}
        type={type}
        value={value}
        placeholder={hint}
        required={!isOptional}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </label>
  )
}

/** Text of several lines. */
export function TextArea({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <label class="wide">
      <span>{label}</span>
      {/* A browser drops one line break after the start tag. */}
      <textarea name={name} rows={10} required spellcheck={false}>{`\n${value}`}</textarea>
    </label>
  )
}

/** One of a few values. */
export function ChoiceField(props: {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  /** The chosen one. @default the first */
  readonly value?: string | undefined
}) {
  return (
    <label>
      <span>{props.label}</span>
      <select name={props.name}>
        {props.values.map((value) => (
          <option value={value} selected={value === props.value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  )
}

/** How long the previous secret stays valid. To end it at once is an act of its own, which a reload does not repeat. */
export function GraceField() {
  return (
    <label>
      <span>The previous secret stays valid for, in hours</span>
      <input name="graceHours" type="number" min={1} max={720} step={1} value="24" required />
    </label>
  )
}

/** A box to check before an act that cannot be undone. */
export function ConfirmField({ label }: { label: string }) {
  return (
    <label class="confirm">
      <input name="confirmed" type="checkbox" value="yes" required />
      <span>{label}</span>
    </label>
  )
}

/** An integration to choose. */
export interface NamedAddress {
  readonly address: string
  readonly name: string
}

/** The choice of an integration. */
export function IntegrationChoice(props: { integrations: readonly NamedAddress[]; chosen?: string | undefined }) {
  return (
    <label>
      <span>Integration</span>
      <select name="integration">
        {props.integrations.map(({ address, name }) => (
          <option value={address} selected={address === props.chosen}>
            {`${shownText(name, 30)} ${shortHex(address)}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A field of the form. */
export type Field =
  | { readonly name: string; readonly label: string; readonly options: readonly (readonly [string, string])[] }
  | {
      readonly name: string
      readonly label: string
      readonly hint: string
      readonly kind?: 'search' | 'datetime-local'
    }

/** Fields of the form, and the list that it filters. */
type FiltersProps = { readonly fields: readonly Field[]; readonly given: Given } & (
  | { /** Below the console's base. */ readonly path: string }
  | { /** The whole path. */ readonly action: string }
)

/** The form. It works without JavaScript. */
export function Filters({ fields, given, ...place }: FiltersProps) {
  const action = 'action' in place ? place.action : hrefOf(place.path, {})
  const isFiltered = fields.some(({ name }) => given[name] !== undefined)
  return (
    <form class="filters" method="get" action={action}>
      {fields.map((field) => (
        <label for={`field-${field.name}`}>
          <span>{field.label}</span>
          {'options' in field ? (
            <select id={`field-${field.name}`} name={field.name}>
              <option value="">all</option>
              {field.options.map(([value, text]) => (
                <option value={value} selected={given[field.name] === value}>
                  {text}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`field-${field.name}`}
              name={field.name}
              type={field.kind ?? 'text'}
              value={inputValue(field.kind, given[field.name])}
              placeholder={field.hint}
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </label>
      ))}
      <button type="submit">Show</button>
      {isFiltered ? <a href={action}>Clear</a> : null}
    </form>
  )
}

/** A time of a link is in unix milliseconds; the field of a form shows it as text. */
function inputValue(kind: string | undefined, value = ''): string {
  if (kind !== 'datetime-local') return value
  const time = /^\d{9,15}$/.test(value) ? Number(value) : parseInstant(`${value.slice(0, 16)}Z`)
  return time === null ? '' : new Date(time).toISOString().slice(0, 16)
}
