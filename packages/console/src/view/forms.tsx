/** Forms for acts, shown to roles that may act, and for the filters of a list. @module */
import type { IntegrationView } from '@payment-integration/core'
import { type Child, createContext, type JSX, useContext } from 'hono/jsx'
import { parseAnyTime, type QueryFields } from '../filters.js'
import { isAllowed, type Role, type Visit } from '../viewer.js'
import { base } from './parts.js'
import { shortenHex, showText } from './text.js'

export const VisitContext = createContext<Visit | null>(null)

export interface PostFormProps {
  readonly action: string
  readonly label: string
  readonly fields?: Readonly<Record<string, string | number | undefined>>
  readonly confirm?: string
  /** Whether the form asks how long the previous secret stays valid. A separate act ends its validity at once. */
  readonly hasGrace?: boolean
  /** @default danger when the form has `confirm`, else plain */
  readonly tone?: 'plain' | 'danger'
  readonly children?: Child
}

/** A posted form with its CSRF token, which works without JavaScript. */
export function PostForm({ action, label, fields = {}, confirm, hasGrace = false, ...rest }: PostFormProps) {
  const { tone = confirm === undefined ? 'plain' : 'danger', children } = rest
  return (
    <form class="act" method="post" action={action}>
      <input type="hidden" name="csrf" value={useContext(VisitContext)?.csrfToken ?? ''} />
      {Object.entries(fields).map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={String(value)} />,
      )}
      {children}
      {hasGrace ? (
        <label>
          <span>Keep the previous secret valid, in hours</span>
          <input name="graceHours" type="number" min={1} max={720} step={1} value="24" required />
        </label>
      ) : null}
      {confirm === undefined ? null : (
        <label class="confirm">
          <input name="confirmed" type="checkbox" value="yes" required />
          <span>{confirm}</span>
        </label>
      )}
      <button type="submit" class={tone}>
        {label}
      </button>
    </form>
  )
}

export interface ActFormProps extends Omit<PostFormProps, 'action'> {
  readonly act: string
  readonly needs: Role
}

export const ActForm = ({ act, needs, ...form }: ActFormProps) => (
  <ForRole needs={needs}>
    <PostForm {...form} action={`${base}/act/${act}`} />
  </ForRole>
)

/** Shows its children to a role that may act. */
export function ForRole({ needs, children }: { needs: Role; children?: Child }) {
  const visit = useContext(VisitContext)
  return visit !== null && isAllowed(visit.viewer.role, needs) ? <>{children}</> : null
}

interface TextFieldProps extends Pick<JSX.IntrinsicElements['input'], 'inputmode' | 'pattern' | 'step'> {
  readonly name: string
  readonly label: string
  readonly value?: string
  readonly hint?: string
  readonly type?: 'text' | 'email' | 'search' | 'datetime-local'
  readonly isOptional?: boolean
  readonly isLong?: boolean
  /** The height of a text area, in lines. @default a field of one line */
  readonly rows?: number
}

export function TextField({ name, label, value = '', hint = '', type = 'text', rows, ...rest }: TextFieldProps) {
  const { isOptional = false, isLong = false, ...input } = rest
  if (rows !== undefined)
    return (
      <label class="wide">
        <span>{label}</span>
        {/* A browser drops one line break after the start tag. */}
        <textarea name={name} rows={rows} placeholder={hint} required={!isOptional} spellcheck={false}>
          {`\n${value}`}
        </textarea>
      </label>
    )
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
        {...input}
      />
    </label>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly values: readonly (string | readonly [value: string, text: string])[]
  /** The selected value. @default the first value */
  readonly value?: string | undefined
}

export const ChoiceField = ({ name, label, values, value: chosen }: ChoiceProps) => (
  <label>
    <span>{label}</span>
    <select name={name}>
      {values
        .map((each) => (typeof each === 'string' ? ([each, each] as const) : each))
        .map(([value, text]) => (
          <option value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
    </select>
  </label>
)

export type NamedAddress = Pick<IntegrationView, 'address' | 'name'>

/** An integration as an option of a choice. Its name may be hostile. */
export const integrationOption = ({ address, name }: NamedAddress) =>
  [address, `${showText(name, 30)} ${shortenHex(address)}`] as const

export const IntegrationChoice = (props: { integrations: readonly NamedAddress[]; chosen?: string | undefined }) => (
  <ChoiceField
    name="integration"
    label="Integration"
    values={props.integrations.map(integrationOption)}
    value={props.chosen}
  />
)

export type Field = { readonly name: string; readonly label: string } & (
  | { readonly options: readonly (readonly [value: string, text: string])[] }
  | Pick<TextFieldProps, 'hint' | 'type'>
)

/** A form with the filters of the list at `action`, which works without JavaScript. */
export function Filters({ fields, values, action }: { fields: readonly Field[]; values: QueryFields; action: string }) {
  const { q } = values
  const isFiltered = q !== undefined || fields.some(({ name }) => values[name] !== undefined)
  return (
    <form class="filters" method="get" action={action}>
      {q === undefined ? null : <input type="hidden" name="q" value={q} />}
      {fields.map(({ name, label, ...field }) =>
        'options' in field ? (
          // A link may have an address in capitals; every option is in lower case.
          <ChoiceField
            {...{ name, label }}
            values={[['', 'all'], ...field.options]}
            value={values[name]?.toLowerCase()}
          />
        ) : (
          <TextField {...{ name, label, ...field }} value={formatInput(field.type, values[name])} isOptional />
        ),
      )}
      <button type="submit">Show</button>
      {isFiltered ? <a href={action}>Clear</a> : null}
    </form>
  )
}

/** Formats the value of a filter for its field: a link's time in the browser's format, any other value unchanged. */
function formatInput(type: string | undefined, value = ''): string {
  if (type !== 'datetime-local') return value
  const time = parseAnyTime(value)
  return time === null ? '' : new Date(time).toISOString().slice(0, 16)
}
