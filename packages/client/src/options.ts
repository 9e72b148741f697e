/** Checks the options of `createClient`. @module */
import { checkAddress, checkText } from './internal/check.js'
import { checkTransport, type Transport, type TransportOptions } from './transport-options.js'

/** Options of `createClient`. */
export interface ClientOptions extends TransportOptions {
  /** The integration's address, 0x and 40 hex digits in any case: the Basic username. */
  readonly integrationAddress: string
  /** The integration's API secret: the Basic password. Not the webhook signing secret. */
  readonly apiSecret: string
}

/** {@link ClientOptions} with defaults, checked. */
export interface CheckedOptions extends Transport {
  /** Lowercased. */
  readonly integrationAddress: string
  readonly apiSecret: string
}

/**
 * Checks the options and adds defaults. No message repeats `apiSecret`, or a text that could be a misplaced secret.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkOptions(options: ClientOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('createClient expects an object with baseUrl, integrationAddress and apiSecret.')
  return {
    ...checkTransport(options),
    integrationAddress: checkAddress('integrationAddress', options.integrationAddress),
    apiSecret: checkApiSecret(options.apiSecret),
  }
}

function checkApiSecret(value: unknown): string {
  const secret = checkText('apiSecret', value)
  if (/\p{Cc}/u.test(secret))
    throw new TypeError('apiSecret holds a control character, which Basic authentication forbids.')
  return secret
}
