/** Turns a request into a trusted snapshot. Source: docs/interface.md 6. @module */
import { findMatchingKey } from '#hmac'
import type { Delivery, RawBody, RequestLike } from './delivery.js'
import { checkFiniteTime, type Limits, resolveLimits } from './delivery.js'
import { createRejection, rejectWith } from './errors.js'
import { type FreshHeader, parseFreshHeader } from './internal/fresh-signature-header.js'
import { prepareKeys } from './internal/prepared-keys.js'
import type { ReadableHeaders } from './internal/read-request.js'
import { assertUnread, isRequest, readHeader, readRequest, toReadable } from './internal/read-request.js'
import { assertRawBody, isRaw, toBoundedBytes } from './read-body.js'
import type { SigningKey } from './signing-key.js'
import { addressForm, decodeText, parseSnapshot, type Snapshot } from './snapshot.js'
import type { SignatureProof } from './verify-signature.js'

/** One secret, several during a rotation, or none. */
export type Secrets = string | readonly string[] | null | undefined

/**
 * Finds the secrets of an integration, by its lowercased address.
 * Returns `undefined`, `null` or an empty list when the integration is not yours.
 */
export type FindSecrets = (integration: string) => Secrets | Promise<Secrets>

/** The secrets of a verifier, its clock, and its limits. */
export interface VerifierOptions extends Limits {
  /** The signing secrets as issued, or a function that finds those of the integration in `X-Service-Integration`. */
  readonly secrets: string | readonly string[] | FindSecrets
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
}

/** A snapshot that the service signed, and the proof. */
export interface VerifiedDelivery extends SignatureProof {
  readonly snapshot: Snapshot
}

/** Verifies deliveries of one or several integrations. */
export interface Verifier {
  /**
   * Verifies a delivery and parses its snapshot. Needs no `this`. Checks in this order: kind of body, header form,
   * time, secrets, size, signature, JSON, fields. Last, the snapshot's integration must equal `X-Service-Integration`.
   * The body of a fetch request is read after its headers passed. The snapshot is parsed from the verified bytes, even
   * if the caller's buffer changes meanwhile.
   * @throws {@link WebhookError} A rejection with `status` and `code`: `ERR_BODY_NOT_RAW`, `ERR_SIGNATURE_MISSING`,
   * `ERR_SIGNATURE_MALFORMED`, `ERR_SIGNATURE_SCHEME`, `ERR_DELIVERY_STALE`, `ERR_DELIVERY_FUTURE`,
   * `ERR_INTEGRATION_UNKNOWN`, `ERR_BODY_UNREADABLE`, `ERR_BODY_TOO_LARGE`, `ERR_SIGNATURE_MISMATCH`,
   * `ERR_SNAPSHOT_INVALID`, `ERR_INTEGRATION_MISMATCH`. Errors of your `secrets` function pass through.
   * @throws {TypeError} When the delivery is no object, or the `secrets` function returns an unusable secret.
   * @throws {RangeError} When `clock.now()` or `receivedAt` is no finite number.
   */
  verify(delivery: Delivery | RequestLike): Promise<VerifiedDelivery>
}

/**
 * Creates a verifier, which turns a request into a trusted snapshot. Compare versions next: deliveries repeat and
 * arrive in any order.
 * @throws {TypeError} When there is no secret, one is empty, blank or padded, or `clock` has no `now`.
 * @throws {RangeError} When an option is out of range.
 * @throws {@link WebhookError} From `verify`, such as `ERR_SIGNATURE_MISMATCH` or `ERR_DELIVERY_STALE`: {@link
 * Verifier} names all codes.
 * @example
 * import { createVerifier } from '@payment-integration/webhook'
 * const { verify } = createVerifier({ secrets: process.env['WEBHOOK_SIGNING_SECRET'] ?? '' })
 * export async function POST(request: Request): Promise<Response> {
 *   const { snapshot } = await verify(request)
 *   console.log(snapshot.txHash, snapshot.version, snapshot.state)
 *   return new Response(null, { status: 204 })
 * }
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { secrets, clock = { now: () => Date.now() } } = Object(options) as VerifierOptions
  const fixedKeys = typeof secrets === 'function' ? undefined : prepareKeys(secrets)
  const { toleranceSeconds, maxBytes } = resolveLimits(options)
  if (typeof clock?.now !== 'function') throw new TypeError('clock.now is missing; pass a clock')

  async function verifyThenParse(
    { signedAt, ageSeconds, codes }: FreshHeader,
    delivery: Delivery | RequestLike,
    body: RawBody | undefined,
    headers: ReadableHeaders,
  ): Promise<VerifiedDelivery> {
    // By the next tick the caller has added its handler; a rejection without one costs Node three times as much.
    await null
    const integration = readHeader(headers, 'x-service-integration')
    const keys = fixedKeys ?? (await findIntegrationKeys(secrets as FindSecrets, integration))
    // Uses the body that was checked, even if the delivery has another body by now.
    const bytes =
      body === undefined
        ? await readRequest(delivery as RequestLike, headers, maxBytes)
        : toBoundedBytes(body, maxBytes)
    if ('code' in bytes) throw bytes
    // The caller may refill its buffer at any `await`, so hash and decode without one in between. Another thread may
    // write shared memory at any time, so copy it first.
    const signed = isRaw(bytes.buffer) ? bytes : new Uint8Array(bytes)
    const matched = findMatchingKey(keys, signedAt, signed, codes)
    // With Web Crypto `matched` is a promise, and a promise is never below 0.
    const text = (matched as unknown as number) < 0 ? '' : decodeText(signed)
    const secretIndex = await matched
    if (secretIndex < 0) throw createRejection('ERR_SIGNATURE_MISMATCH', 401)

    const snapshot = parseSnapshot(text)
    if (integration !== snapshot.integrationAddress) throw createRejection('ERR_INTEGRATION_MISMATCH', 400)
    return { snapshot, secretIndex, signedAt, ageSeconds }
  }

  return {
    verify(delivery) {
      try {
        // Checks that need neither body nor secrets come first: they reject most junk.
        if (!delivery || typeof delivery !== 'object' || 'byteLength' in delivery)
          throw new TypeError('verify got no headers; pass { body, headers }')
        const body = isRequest(delivery) ? assertUnread(delivery) : assertRawBody(delivery.body)
        const receivedAt = checkFiniteTime((delivery as Delivery).receivedAt ?? clock.now())
        const headers = toReadable(delivery.headers)
        const signature = parseFreshHeader(readHeader(headers, 'x-service-signature'), receivedAt, toleranceSeconds)
        return signature.code ? rejectWith(signature) : verifyThenParse(signature, delivery, body, headers)
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

/** Only a well-formed address reaches your look-up: the header is not authenticated yet. */
async function findIntegrationKeys(find: FindSecrets, integration: string | undefined): Promise<readonly SigningKey[]> {
  const secrets = addressForm.test(`${integration}`) ? await find(`${integration}`) : undefined
  if (secrets === undefined || secrets === null || (Array.isArray(secrets) && !secrets.length))
    throw createRejection('ERR_INTEGRATION_UNKNOWN', 401)
  return prepareKeys(secrets)
}
