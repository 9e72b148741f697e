/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The field of the tools' forms that names an integration. @module */
import { shortHex, shownText } from '../view/text.js'

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
