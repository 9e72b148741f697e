/** The client of the integration API. Source: docs/interface.md 4.1, 4.2, 5. @module */
import { createIdentitySharer, type IdentitySharer } from './identity/share.js'
import { checkAddress, checkObject, checkText } from './internal/check.js'
import { createRequester } from './internal/request.js'
import { createPaymentReader, type PaymentReader } from './payments.js'
import { checkTransport, type TransportOptions } from './transport-options.js'

/**
 * The value of `Authorization` for a username and a password, encoded as UTF-8.
 * @param username - Must not contain a colon; the caller has checked it.
 */
export function formatBasicAuthorization(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`)
  // One character per byte: btoa rejects characters above 255.
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`
}

/** The address and credentials of an integration, and the options of every client. */
export interface ClientOptions extends TransportOptions {
  /** The integration's address, 0x and 40 hex digits in any case: the Basic username. */
  readonly integrationAddress: string
  /** The integration's API secret: the Basic password. Not the webhook signing secret. */
  readonly apiSecret: string
}

/**
 * Checks the options and adds defaults. No message repeats `apiSecret`, or a text that could be a misplaced secret.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkOptions(options: ClientOptions) {
  checkObject('createClient', options, 'baseUrl, integrationAddress and apiSecret')
  return {
    ...checkTransport(options),
    integrationAddress: checkAddress('integrationAddress', options.integrationAddress),
    apiSecret: checkApiSecret(options.apiSecret),
  }
}

function checkApiSecret(value: unknown): string {
  const secret = checkText('apiSecret', value)
  if (/\p{Cc}/u.test(secret))
    throw new TypeError(
      'apiSecret holds a control character, which Basic authentication forbids; pass the secret as issued.',
    )
  return secret
}

/**
 * Reads the payments of one integration and shares verifications. Stateless: calls may run at the same time. Every call
 * may reject with `ERR_UNAUTHORIZED`, `ERR_RATE_LIMITED`, `ERR_SERVICE_UNAVAILABLE`, `ERR_NETWORK`, `ERR_TIMEOUT`,
 * `ERR_ABORTED` or `ERR_RESPONSE_INVALID`; each method names its further codes.
 */
export interface Client {
  /** Lowercased. */
  readonly integrationAddress: string
  /** Every payment of the integration. */
  readonly payments: PaymentReader
  /**
   * The payments that one wallet sent or received through the integration.
   * @param address - 0x and 40 hex digits, in any case.
   * @throws {TypeError} When `address` is malformed.
   */
  wallet(address: string): PaymentReader
  /** Identity verifications of the integration's users. */
  readonly identity: IdentitySharer
}

/**
 * Creates a client of the integration API. Nothing is sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 * @throws {@link ClientError} From its methods, such as `ERR_UNAUTHORIZED` or `ERR_TIMEOUT`: {@link Client} names all
 * codes.
 * @example
 * import { createClient } from '@payment-integration/client'
 * const { INTEGRATION_ADDRESS: integrationAddress = '', API_SECRET: apiSecret = '' } = process.env
 * const client = createClient({ baseUrl: 'https://payments.example.com', integrationAddress, apiSecret })
 * for await (const payment of client.payments.iterate()) console.log(payment.txHash, payment.state)
 */
export function createClient(options: ClientOptions): Client {
  const { integrationAddress, apiSecret, ...transport } = checkOptions(options)
  const authorization = formatBasicAuthorization(integrationAddress, apiSecret)
  const secrets = [apiSecret, authorization, authorization.replace('Basic ', '')]
  const request = createRequester(transport, {
    authorization,
    secrets,
    optionNames: 'integrationAddress and apiSecret (not the webhook signing secret)',
  })
  return {
    integrationAddress,
    payments: createPaymentReader({ integrationAddress, wallet: null }, request),
    wallet: (address) => createPaymentReader({ integrationAddress, wallet: checkAddress('address', address) }, request),
    identity: createIdentitySharer(secrets, request),
  }
}
