/** The core: bytes, header, keys. Source: INTERFACE 6, signature rules. @module */
import { signingKey as makeKey, match } from '#hmac'
import { refusal } from './errors.js'
import { parseSignatureHeader } from './internal/parse-signature-header.js'
import type { SigningKey } from './signing-key.js'

/**
 * Makes a signing secret ready, once for many deliveries.
 * @throws {TypeError} When it is no string, empty, blank, or has white space around it. The message does not hold it.
 */
export const signingKey: (secret: string) => SigningKey = makeKey

/** What a right signature proves of the bytes, as they were when they were hashed. */
export interface SignatureProof {
  /** Index of the secret that signed: 0 everywhere means that the others can be retired. */
  readonly secretIndex: number
  /** The header's `t`: unix time in whole seconds. */
  readonly signedAt: number
  /** Seconds from `t` to the time of receipt; negative when `t` is ahead. */
  readonly ageSeconds: number
}

/** What is checked, against what. */
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
 * Verifies a signature and nothing else, in 1 KB. Refuses in this order: shape of the header, time, size, code. Options are not checked: one
 * that is below 0, or stands for no finite number, accepts nothing. `verifySignature` checks them, and takes other kinds of body.
 * The verdict is about the bytes as they were when they were hashed: hand over memory that nobody writes until you have read it, no pooled
 * buffer that is filled again.
 * Nor is the kind of the inputs. From JavaScript, no body, a header that is no text, no keys, and keys that `signingKey` did not make end in a
 * `TypeError`; a body that was parsed to an object has no length, and is `ERR_BODY_TOO_LARGE`.
 * @throws {@link WebhookError} A refusal with `code` and `status`.
 * @throws {TypeError} When an input is not of its type.
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
