/** Checks the options of the legacy client. Source: docs/interface.md 5 (legacy); docs/decisions/legacy.md. @module */
import { checkText } from '../internal/check.js'
import { checkTransport, type Transport, type TransportOptions } from '../transport-options.js'

/** Options of `createLegacyClient`. */
export interface LegacyClientOptions extends TransportOptions {
  /** The API key: printable ASCII without spaces, and without a scheme before it. */
  readonly apiKey: string
  /** Sends `Bearer <key>` instead of the bare key, for a proxy that asks for a scheme. @default false */
  readonly bearer?: boolean | undefined
}

/** {@link LegacyClientOptions} with defaults, checked. */
export interface CheckedLegacyOptions extends Transport {
  readonly apiKey: string
  readonly bearer: boolean
}

/**
 * Checks the options and adds defaults. No message repeats `apiKey`, or a text that could be a misplaced key.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkLegacyOptions(options: LegacyClientOptions): CheckedLegacyOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('createLegacyClient expects an object with baseUrl and apiKey.')
  const { bearer = false } = options
  if (typeof bearer !== 'boolean') throw new TypeError(`bearer is of type ${typeof bearer}; pass true or false.`)
  return { ...checkTransport(options), apiKey: checkApiKey(options.apiKey), bearer }
}

function checkApiKey(value: unknown): string {
  const key = checkText('apiKey', value)
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey holds a space or what is not printable ASCII; pass the bare key, without a scheme.')
  return key
}
