/**
 * Verifies bytes against a header and keys, and the signature of any kind of body. Source: docs/interface.md 6,
 * signature rules.
 * @module
 */
import { findMatchingKey, signingKey as makeKey } from '#hmac'
import { checkFiniteTime, type Limits, type RawBody, resolveLimits } from './delivery.js'
import { createRejection, rejectWith } from './errors.js'
import { parseFreshHeader } from './internal/fresh-signature-header.js'
import { prepareKeys } from './internal/prepared-keys.js'
import { assertRawBody, toBoundedBytes } from './read-body.js'
import type { Hmac, SigningKey } from './signing-key.js'

/**
 * Prepares a signing secret once for many deliveries, for {@link verifyBytes}.
 * @throws {TypeError} When it is no string, empty, blank, or has white space around it. The message does not hold it.
 */
export const signingKey: (secret: string) => SigningKey = makeKey

/** The facts that a correct signature proves about the hashed bytes. */
export interface SignatureProof {
  /** Index of the secret that signed. While every delivery has 0, the other secrets can be retired. */
  readonly secretIndex: number
  /** The header's `t`: unix time in whole seconds. */
  readonly signedAt: number
  /** Seconds from `t` to the time of receipt; negative when `t` is ahead. */
  readonly ageSeconds: number
}

/** A body, its signature header, the keys, and the limits. */
export interface VerifyBytesInput extends Limits {
  /** The body exactly as it arrived. */
  readonly body: Uint8Array
  /** The value of `X-Service-Signature`. */
  readonly header: string | null | undefined
  /** The signing secrets that are valid now, made ready by `signingKey`. Several during a rotation. */
  readonly keys: readonly SigningKey[]
  /** When the delivery arrived: milliseconds since the epoch. @default Date.now() */
  readonly receivedAt?: number | undefined
}

/**
 * Verifies a signature and nothing else; adds 1 KB to a bundle. Checks header form, time, size, signature. The
 * result holds for the bytes at the time of hashing. Pass memory that nobody writes until you have read it. Options and
 * kinds of input are not checked; `verifySignature` checks them and takes other kinds of body. A negative limit, or one
 * that is no finite number, accepts nothing. A parsed body gets `ERR_BODY_TOO_LARGE`.
 * @throws `WebhookError` A rejection with `status` and `code`: `ERR_SIGNATURE_MISSING`, `ERR_SIGNATURE_MALFORMED`,
 * `ERR_SIGNATURE_SCHEME`, `ERR_DELIVERY_STALE`, `ERR_DELIVERY_FUTURE`, `ERR_BODY_TOO_LARGE`, `ERR_SIGNATURE_MISMATCH`.
 * @throws {TypeError} When there is no body or no key, the header is no text, or `signingKey` did not make a key.
 * @example
 * import { signingKey, verifyBytes } from '@payment-integration/webhook/core'
 * const keys = [signingKey(process.env['WEBHOOK_SIGNING_SECRET'] ?? '')]
 * export async function isSigned(request: Request): Promise<boolean> {
 *   const [body, header] = [new Uint8Array(await request.arrayBuffer()), request.headers.get('x-service-signature')]
 *   return verifyBytes({ body, header, keys }).then(() => true, () => false)
 * }
 */
export async function verifyBytes({
  body,
  header,
  keys,
  toleranceSeconds = 300,
  maxBytes = 262_144,
  receivedAt = Date.now(),
}: VerifyBytesInput): Promise<SignatureProof> {
  const signature = parseFreshHeader(header, receivedAt, toleranceSeconds)
  if (signature.code) {
    // By the next tick the caller has added its handler. Node spends twice as much on a promise rejected earlier.
    await null
    throw signature
  }
  if (!(maxBytes < Infinity && body.length <= maxBytes)) throw createRejection('ERR_BODY_TOO_LARGE', 413)
  const { signedAt, ageSeconds } = signature
  const secretIndex = await findMatchingKey(keys, signedAt, body, signature.codes)
  if (secretIndex < 0) throw createRejection('ERR_SIGNATURE_MISMATCH', 401)
  return { secretIndex, signedAt, ageSeconds }
}

export interface VerifySignatureInput extends Limits {
  /** The body exactly as it arrived. A string is hashed as its UTF-8. */
  readonly body: RawBody
  /** The value of `X-Service-Signature`; several lines are joined as HTTP joins them. */
  readonly header: string | readonly string[] | null | undefined
  /** The signing secrets that are valid now, as issued. Several during a rotation. */
  readonly secrets: string | readonly string[]
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
  /** When the delivery arrived, for queued work: milliseconds since the epoch. @default clock.now() */
  readonly receivedAt?: number | undefined
}

/**
 * Verifies the signature over a body of any content. Checks in this order: kind of body, form of the header, time,
 * size, signature. The result holds for the bytes at the time of hashing. Pass memory that nobody writes until you have
 * read it.
 * @throws {@link WebhookError} A rejection with `status` and `code`: `ERR_BODY_NOT_RAW`, or one of `verifyBytes`.
 * @throws {TypeError} When a secret or the list is unusable, or `clock` has no `now`.
 * @throws {RangeError} When an option is out of range, or the time of receipt is no finite number.
 * @example
 * import { verifySignature } from '@payment-integration/webhook'
 * export async function isFromTheService(request: Request, secret: string): Promise<boolean> {
 *   const header = request.headers.get('x-service-signature')
 *   const { ageSeconds } = await verifySignature({ body: await request.arrayBuffer(), header, secrets: [secret] })
 *   return ageSeconds < 300
 * }
 */
export function verifySignature(input: VerifySignatureInput): Promise<SignatureProof> {
  try {
    return verifyCheckedInput(input)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Throws when the receiver passes a wrong argument; rejects the promise for a bad delivery. */
function verifyCheckedInput(input: VerifySignatureInput): Promise<SignatureProof> {
  const { header, secrets, clock = Date, receivedAt = clock.now() } = input
  const keys = prepareKeys(secrets)
  const { toleranceSeconds, maxBytes } = resolveLimits(input)
  const body = assertRawBody(input.body)
  const signature = parseFreshHeader(joinHeader(header), checkFiniteTime(receivedAt), toleranceSeconds)
  if (signature.code) return rejectWith(signature)
  const { signedAt, ageSeconds, codes } = signature
  const bytes = toBoundedBytes(body, maxBytes)
  if ('code' in bytes) return rejectWith(bytes)
  const settle = (secretIndex: number) =>
    secretIndex < 0
      ? rejectWith(createRejection('ERR_SIGNATURE_MISMATCH', 401))
      : Promise.resolve({ secretIndex, signedAt, ageSeconds })
  // The type comes from the Node file; the Web Crypto file returns a promise.
  const matched = findMatchingKey(keys, signedAt, bytes, codes) as ReturnType<Hmac['findMatchingKey']>
  return typeof matched === 'number' ? settle(matched) : matched.then(settle)
}

/** The header as one text. Any other value becomes a text that the parser rejects. */
function joinHeader(header: unknown): string | null | undefined {
  const text = Array.isArray(header) ? header.join() : header
  return text === null || text === undefined || typeof text === 'string' ? text : '?'
}
