/** From a request to a trusted snapshot. Source: INTERFACE 6. @module */
import { hmac } from '#hmac'
import { maxBytesOption } from './body-limit.js'
import type { Delivery, RequestLike } from './delivery.js'
import { IntegrationMismatchError, IntegrationUnknownError } from './errors.js'
import { assertFresh, type FreshnessOptions, freshnessOptions } from './freshness.js'
import { integrationHeader, signatureHeader } from './headers.js'
import { assertRaw, bytesOf } from './internal/body.js'
import type { Hmac } from './internal/hmac.js'
import { matchSecret } from './internal/match.js'
import { parseSignatureHeader } from './internal/parse-header.js'
import { readHeader } from './internal/read-header.js'
import { assertUnread, isRequest, readRequest } from './internal/read-request.js'
import { createKeyring, secretList } from './internal/secrets.js'
import { isAddress, parseSnapshot, type Snapshot } from './snapshot.js'
import type { SignatureProof } from './verify-signature.js'

/** One secret, several during a rotation, or none. */
export type Secrets = string | readonly string[] | null | undefined

/** Finds the secrets of an integration, by its lowercased address. `undefined`, `null` or an empty list when it is not yours. */
export type SecretsOf = (integration: string) => Secrets | Promise<Secrets>

/** What a verifier is made from. */
export interface VerifierOptions extends FreshnessOptions {
  /** The signing secrets as issued, or a function that finds them for the integration that `X-Service-Integration` names. */
  readonly secrets: string | readonly string[] | SecretsOf
  /** Largest accepted body, in bytes. @default 262144 */
  readonly maxBytes?: number | undefined
}

/** A snapshot that the service signed, and the proof. */
export interface VerifiedDelivery extends SignatureProof {
  readonly snapshot: Snapshot
}

/** Verifies deliveries. */
export interface Verifier {
  /**
   * Verifies a delivery and reads its snapshot: kind of body, header shape, time, secrets, size, code, then JSON, fields, and that
   * `X-Service-Integration` is the snapshot's integration. A fetch request's body is read after its headers passed. Needs no `this`.
   * @throws {@link WebhookError} A refusal with `code` and `status`. What your `secrets` function throws passes through.
   * @throws {TypeError} When the delivery is no object, or the `secrets` function gives an unusable secret.
   * @throws {RangeError} When `now` gives no finite number.
   */
  verify(delivery: Delivery | RequestLike): Promise<VerifiedDelivery>
}

/**
 * Makes a verifier. Compare versions next: deliveries repeat and overtake each other.
 * @throws {TypeError} When a secret is empty, blank or has white space around it, or `now` is no function.
 * @throws {RangeError} When an option is out of range.
 * @example const { verify } = createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET })
 */
export function createVerifier(options: VerifierOptions): Verifier {
  return createVerifierWith(hmac, options)
}

/** {@link createVerifier} on a given primitive. */
export function createVerifierWith(primitive: Hmac, options: VerifierOptions): Verifier {
  const freshness = freshnessOptions(options)
  const maxBytes = maxBytesOption(options.maxBytes)
  const secretsFor = typeof options.secrets === 'function' ? finder(options.secrets) : fixed(options.secrets)
  const keysOf = createKeyring(primitive)

  return {
    async verify(delivery) {
      if (delivery === null || typeof delivery !== 'object')
        throw new TypeError(
          `verify got ${delivery === null ? 'null' : typeof delivery}; pass { body, headers } or a Request.`,
        )
      const request = isRequest(delivery) ? delivery : undefined
      if (request) assertUnread(request)
      else assertRaw(delivery.body)

      const claim = parseSignatureHeader(readHeader(delivery.headers, signatureHeader))
      const ageSeconds = assertFresh(claim.signedAt, freshness)
      const integration = readHeader(delivery.headers, integrationHeader)
      const secrets = await secretsFor(integration)
      const body = request ? await readRequest(request, maxBytes) : bytesOf((delivery as Delivery).body, maxBytes)
      const secretIndex = await matchSecret(primitive, await keysOf(secrets), claim, body)

      const snapshot = parseSnapshot(body)
      if (integration !== snapshot.integrationAddress) throw new IntegrationMismatchError()
      return { snapshot, secretIndex, signedAt: claim.signedAt, ageSeconds }
    },
  }
}

type SecretsFor = (integration: string | undefined) => Promise<readonly string[]>

function fixed(secrets: unknown): SecretsFor {
  const list = secretList(secrets)
  return async () => list
}

function finder(find: SecretsOf): SecretsFor {
  return async (integration) => {
    if (integration === undefined) throw new IntegrationUnknownError('is missing')
    // Only the form of an address reaches your look-up: the header is not authenticated yet.
    if (!isAddress(integration)) throw new IntegrationUnknownError('is not a lowercased address')
    const found = await find(integration)
    if (found === undefined || found === null || (Array.isArray(found) && found.length === 0))
      throw new IntegrationUnknownError('names an integration without a secret here')
    return secretList(found)
  }
}
