/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The fields of the tools' forms. @module */
import { shortHex, shownText } from '../view/text.js'

/** An integration to choose. */
export interface NamedAddress {
  readonly address: string
  readonly name: string
}

/** Integrations of a choice. */
const mostChoices = 200

/** The choice of an integration. @param tool - Names the field of each form. */
export function IntegrationChoice(props: { tool: string; integrations: readonly NamedAddress[]; chosen?: string }) {
  const id = `${props.tool}-integration`
  return (
    <label for={id}>
      <span>Integration</span>
      <select id={id} name="integration">
        {props.integrations.slice(0, mostChoices).map(({ address, name }) => (
          <option value={address} selected={address === props.chosen}>
            {`${shownText(name, 30)} ${shortHex(address)}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A choice of words. */
export function Choice({ id, label, options }: { id: string; label: string; options: readonly string[] }) {
  return (
    <label for={`field-${id}`}>
      <span>{label}</span>
      <select id={`field-${id}`} name={id}>
        {options.map((value) => (
          <option value={value}>{value}</option>
        ))}
      </select>
    </label>
  )
}

/** A line of text. */
export function TextField({ id, label, hint }: { id: string; label: string; hint: string }) {
  return (
    <label for={`field-${id}`}>
      <span>{label}</span>
      <input id={`field-${id}`} name={id} placeholder={hint} autocomplete="off" spellcheck={false} />
    </label>
  )
}
