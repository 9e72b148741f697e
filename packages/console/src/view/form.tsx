/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The filters of a list: a form whose fields are the URL's parameters. @module */
import { parseInstant } from '@payment-integration/contract/parse'
import type { Given } from '../filters.js'
import { hrefOf } from './parts.js'

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
export type FiltersProps = { readonly fields: readonly Field[]; readonly given: Given } & (
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
