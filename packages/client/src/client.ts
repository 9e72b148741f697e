/** The client of the integration API. Source: docs/interface.md 4.1, 4.2, 5. @module */
import { basicAuthorization } from './basic-auth.js'
import { type IdentitySharer, identitySharer } from './identity/share.js'
import { checkAddress } from './internal/check.js'
import { createRequester } from './internal/request.js'
import { type ClientOptions, checkOptions } from './options.js'
import { type PaymentReader, paymentReader } from './payments.js'

/** Reads the payments of one integration and shares verifications. Stateless: any number of calls may share it. */
export interface Client {
  /** As it was passed. */
  readonly integrationAddress: string
  /** Every payment of the integration. */
  readonly payments: PaymentReader
  /**
   * The payments that one wallet sent or received through the integration.
   * @param address - 0x and 40 hex digits, in any case.
   * @throws {TypeError} When it is not an address.
   */
  wallet(address: string): PaymentReader
  /** Identity verifications of the integration's users. */
  readonly identity: IdentitySharer
}

/**
 * Makes a client. Nothing is sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 * @example
 * const client = createClient({ baseUrl: 'https://payments.example.com', integrationAddress, apiSecret })
 * for await (const payment of client.payments.iterate()) console.log(payment.txHash, payment.state)
 */
export function createClient(options: ClientOptions): Client {
  const { integrationAddress, apiSecret, ...transport } = checkOptions(options)
  const authorization = basicAuthorization(integrationAddress, apiSecret)
  const secrets = [apiSecret, authorization, authorization.replace('Basic ', '')]
  const request = createRequester(transport, {
    authorization,
    secrets,
    options: 'integrationAddress and apiSecret (not the webhook signing secret)',
  })
  return {
    integrationAddress,
    payments: paymentReader({ integrationAddress, wallet: null }, request),
    wallet: (address) => paymentReader({ integrationAddress, wallet: checkAddress('address', address) }, request),
    identity: identitySharer(secrets, request),
  }
}
