/** Verifies bytes against a header and keys: the core. Source: docs/interface.md 6, signature rules. @module */
import { signingKey as makeKey, match } from '#hmac'
import { refusal } from './errors.js'
import { parseSignatureHeader } from './internal/parse-signature-header.js'
import type { SigningKey } from './signing-key.js'

/**
 * Makes a signing secret ready, once for many deliveries.
 * @throws {TypeError} When it is no string, empty, blank, or has white space around it. The message does not hold it.
 */
export const signingKey: (secret: string) => SigningKey = makeKey

/** The facts that a right signature proves of the hashed bytes. */
export interface SignatureProof {
  /** Index of the secret that signed: 0 everywhere means that the others can be retired. */
  readonly secretIndex: number
  /** The header's `t`: unix time in whole seconds. */
  readonly signedAt: number
  /** Seconds from `t` to the time of receipt; negative when `t` is ahead. */
  readonly ageSeconds: number
}

/** The bytes and the header to check, the keys and the limits. */
export interface VerifyBytesInput {
  /** The body exactly as it arrived. */
  readonly body: Uint8Array
  /** The value of `X-Service-Signature`. */
  readonly header: string | null | undefined
  /** The signing secrets that are valid now, made ready by `signingKey`. Several during a rotation. */
  readonly keys: readonly SigningKey[]
  /** Largest accepted gap between `t` and the time of receipt, on either side, in whole seconds. @default 300 */
  readonly toleranceSeconds?: number | undefined
  /** Largest body that is hashed, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
  /** When the delivery arrived: milliseconds since the epoch. @default Date.now() */
  readonly receivedAt?: number | undefined
}

/**
 * Verifies a signature and nothing else, in 1 KB. Refuses in this order: form of the header, time, size, code.
 * The verdict is about the bytes at the time of hashing. Pass memory that nobody writes until you have read it.
 * Options and kinds of input are not checked; `verifySignature` checks them and takes other kinds of body.
 * A negative limit, or one that is no finite number, accepts nothing. A parsed body is `ERR_BODY_TOO_LARGE`.
 * @throws `WebhookError` A refusal with `code` and `status`.
 * @throws {TypeError} When there is no body or no key, the header is no text, or `signingKey` did not make a key.
 * @example await verifyBytes({ body, header: request.headers.get('x-service-signature'), keys: [signingKey(secret)] })
 */
export async function verifyBytes({
  body,
  header,
  keys,
  toleranceSeconds = 300,
  maxBytes = 262_144,
  receivedAt = Date.now(),
}: VerifyBytesInput): Promise<SignatureProof> {
  const signature = parseSignatureHeader(header, receivedAt, toleranceSeconds)
  if (signature.code) {
    // The caller has its handler on by the next tick: Node spends twice as much on a promise rejected before.
    await null
    throw signature
  }
  if (!(maxBytes < Infinity && body.length <= maxBytes)) throw refusal('ERR_BODY_TOO_LARGE', 413)
  const { signedAt, ageSeconds } = signature
  const secretIndex = await match(keys, signedAt, body, signature.codes)
  if (secretIndex < 0) throw refusal('ERR_SIGNATURE_MISMATCH', 401)
  return { secretIndex, signedAt, ageSeconds }
}
