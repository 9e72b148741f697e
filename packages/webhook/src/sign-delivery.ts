/** The service's side of the scheme: makes the signature header. Source: INTERFACE 6, signature rules 1 and 3. @module */
import { hmac } from '#hmac'
import type { Hmac } from './internal/hmac.js'
import { secretBytes } from './internal/secrets.js'

/** What is signed. */
export interface SignInput {
  /** The webhook signing secret as issued. */
  readonly secret: string
  /** Unix time in whole seconds. Sign each attempt anew, or retries go stale. */
  readonly timestamp: number
  /** The body exactly as it will be sent. */
  readonly body: Uint8Array
}

/**
 * The value of `X-Service-Signature` for a body: `t=<timestamp>,v1=<64 lowercase hex characters>`.
 * @throws {TypeError} When the secret is unusable or the body is not bytes.
 * @throws {RangeError} When the timestamp is not a whole number of 1 to 12 digits.
 */
export async function signDelivery(input: SignInput): Promise<string> {
  return `t=${input.timestamp},v1=${await signatureOf(input)}`
}

/** The `v1` code alone: HMAC-SHA256 over `<timestamp>.<body>`, lowercase hex. Throws as {@link signDelivery}. */
export function signatureOf(input: SignInput): Promise<string> {
  return signatureWith(hmac, input)
}

/** {@link signatureOf} on a given primitive. */
export async function signatureWith(primitive: Hmac, { secret, timestamp, body }: SignInput): Promise<string> {
  const key = secretBytes(secret)
  if (!Number.isSafeInteger(timestamp) || timestamp < 0 || timestamp > 999_999_999_999)
    throw new RangeError(`timestamp is ${timestamp}; pass unix time in whole seconds.`)
  if (!(body instanceof Uint8Array)) throw new TypeError('body is not a Uint8Array; pass the bytes that will be sent.')
  const { sign, prepare, digest } = primitive
  if (sign !== undefined) return sign(secret, String(timestamp), body)
  const code = await digest(await prepare(key), String(timestamp), body)
  return Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
