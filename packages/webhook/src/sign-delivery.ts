/** Makes the signature header, as the service does. Source: docs/interface.md 6, signature rules 1 and 3. @module */
import { sign } from '#hmac'

/** The secret, the time, and the bytes of a signature. */
export interface SignInput {
  /** The webhook signing secret as issued. */
  readonly secret: string
  /** Unix time in whole seconds. Sign each attempt anew, or retries go stale. */
  readonly timestamp: number
  /** The body exactly as it will be sent. */
  readonly body: Uint8Array
}

/**
 * Returns the value of `X-Service-Signature` for a body: `t=<timestamp>,v1=<64 lowercase hex characters>`.
 * @throws {TypeError} When the secret is unusable or the body is not bytes.
 * @throws {RangeError} When the timestamp is not a whole number of 1 to 12 digits.
 * @example
 * import { signDelivery } from '@payment-integration/webhook/signing'
 * const body = new TextEncoder().encode('{"version":1}')
 * const header = await signDelivery({ secret: 'whsec_test', timestamp: Math.floor(Date.now() / 1000), body })
 */
export async function signDelivery(input: SignInput): Promise<string> {
  return `t=${input.timestamp},v1=${await computeSignature(input)}`
}

/** The `v1` code alone: HMAC-SHA256 over `<timestamp>.<body>`, lowercase hex. Throws as {@link signDelivery}. */
export async function computeSignature({ secret, timestamp, body }: SignInput): Promise<string> {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0 || timestamp > 999_999_999_999)
    throw new RangeError(`timestamp is ${timestamp}; pass unix time in whole seconds.`)
  // Checks the type tag, not `instanceof`: in a test runner, bytes may come from another realm.
  if (Object.prototype.toString.call(body) !== '[object Uint8Array]')
    throw new TypeError('body is not a Uint8Array; pass the bytes that will be sent.')
  return sign(secret, timestamp, body)
}
