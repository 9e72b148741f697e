/** Verifies the signature of any kind of body. Source: docs/interface.md 6, signature rules. @module */
import { match } from '#hmac'
import type { RawBody } from './delivery.js'
import { refusal, refuse } from './errors.js'
import { keysOf } from './internal/keyring.js'
import { parseSignatureHeader } from './internal/parse-signature-header.js'
import { checkedLimits, checkedTime, type Limits } from './limits.js'
import { bytesOf, rawBody } from './read-body.js'
import type { Hmac } from './signing-key.js'
import type { SignatureProof } from './verify-bytes.js'

/** The body and the header to check, the secrets, the limits and the clock. */
export interface VerifySignatureInput extends Limits {
  /** The body exactly as it arrived. A string is hashed as its UTF-8. */
  readonly body: RawBody
  /** The value of `X-Service-Signature`; several lines are joined as HTTP joins them. */
  readonly header: string | readonly string[] | null | undefined
  /** The signing secrets that are valid now, as issued. Several during a rotation. */
  readonly secrets: string | readonly string[]
  /** The clock: milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined
  /** When the delivery arrived, for queued work: milliseconds since the epoch. @default now() */
  readonly receivedAt?: number | undefined
}

/**
 * Verifies the signature over a body of any content. Checks in this order: kind of body, form of the header, time,
 * size, code; junk from a stranger is never hashed.
 * The verdict is about the bytes at the time of hashing. Pass memory that nobody writes until you have read it.
 * @throws {@link WebhookError} A refusal with `code` and `status`.
 * @throws {TypeError} When a secret or the list is unusable, or `now` is no function.
 * @throws {RangeError} When an option is out of range, or the time of receipt is no finite number.
 * @example await verifySignature({ body, header: request.headers.get('x-service-signature'), secrets: [secret] })
 */
export function verifySignature(input: VerifySignatureInput): Promise<SignatureProof> {
  try {
    return decide(input)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Throws only what is the receiver's own fault. */
function decide(input: VerifySignatureInput): Promise<SignatureProof> {
  const { header, secrets, now = Date.now, receivedAt = now() } = input
  const keys = keysOf(secrets)
  const { toleranceSeconds, maxBytes } = checkedLimits(input)
  const body = rawBody(input.body)
  const signature = parseSignatureHeader(headerText(header), checkedTime(receivedAt), toleranceSeconds)
  if (signature.code) return refuse(signature)
  const { signedAt, ageSeconds, codes } = signature
  const bytes = bytesOf(body, maxBytes)
  if ('code' in bytes) return refuse(bytes)
  const proof = (secretIndex: number) =>
    secretIndex < 0
      ? refuse(refusal('ERR_SIGNATURE_MISMATCH', 401))
      : Promise.resolve({ secretIndex, signedAt, ageSeconds })
  // The types are those of the Node file; Web Crypto's gives a promise.
  const found = match(keys, signedAt, bytes, codes) as ReturnType<Hmac['match']>
  return typeof found === 'number' ? proof(found) : found.then(proof)
}

/** The header as one text. Any other value becomes a text that the parser refuses. */
function headerText(header: unknown): string | null | undefined {
  const text = Array.isArray(header) ? header.join() : header
  return text === null || text === undefined || typeof text === 'string' ? text : '?'
}
