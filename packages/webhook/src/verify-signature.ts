/** The raw check: bytes, header, secrets. Source: INTERFACE 6, signature rules. @module */
import { hmac } from '#hmac'
import { maxBytesOption } from './body-limit.js'
import type { RawBody } from './delivery.js'
import { assertFresh, type FreshnessOptions, freshnessOptions } from './freshness.js'
import { assertRaw, bytesOf } from './internal/body.js'
import type { Hmac } from './internal/hmac.js'
import { matchSecret } from './internal/match.js'
import { parseSignatureHeader } from './internal/parse-header.js'
import { secretBytes, secretList } from './internal/secrets.js'

/** What is checked, and by which clock. */
export interface VerifySignatureInput extends FreshnessOptions {
  /** The body exactly as it arrived. A string is hashed as its UTF-8. */
  readonly body: RawBody
  /** The value of `X-Service-Signature`. */
  readonly header: string | readonly string[] | null | undefined
  /** The signing secrets that are valid now, as issued. Several during a rotation. */
  readonly secrets: readonly string[]
  /** Largest body that is hashed, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
}

/** What a right signature proves. */
export interface SignatureProof {
  /** Index in `secrets` of the one that signed: 0 everywhere means that the others can be retired. */
  readonly secretIndex: number
  /** The header's `t`: unix time in whole seconds. */
  readonly signedAt: number
  /** Seconds from `t` to the clock; negative when `t` is ahead. */
  readonly ageSeconds: number
}

/**
 * Verifies the signature over a body of any content. Refuses in this order: kind of body, shape of the header, time, size, code;
 * so a stranger's junk costs no hashing.
 * @throws {@link WebhookError} A refusal with `code` and `status`.
 * @throws {TypeError} When a secret or the list is unusable, or `now` is no function.
 * @throws {RangeError} When an option is out of range, or `now` gives no finite number.
 * @example await verifySignature({ body, header: request.headers.get('x-service-signature'), secrets: [secret] })
 */
export function verifySignature(input: VerifySignatureInput): Promise<SignatureProof> {
  return verifySignatureWith(hmac, input)
}

/** {@link verifySignature} on a given primitive. */
export async function verifySignatureWith(primitive: Hmac, input: VerifySignatureInput): Promise<SignatureProof> {
  const secrets = secretList(input.secrets)
  const freshness = freshnessOptions(input)
  const maxBytes = maxBytesOption(input.maxBytes)

  assertRaw(input.body)
  const claim = parseSignatureHeader(input.header)
  const ageSeconds = assertFresh(claim.signedAt, freshness)
  const body = bytesOf(input.body, maxBytes)
  const keys = await Promise.all(secrets.map((secret) => primitive.prepare(secretBytes(secret))))
  const secretIndex = await matchSecret(primitive, keys, claim, body)
  return { secretIndex, signedAt: claim.signedAt, ageSeconds }
}
