/** Authenticates clients, and rejects requests. Source: the provider's pages on errors and limits. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Names and descriptions of numbered errors. */
export const numberedErrors = {
  4000: ['app-token-invalid-format', 'Invalid format of the X-App-Token value'],
  4001: ['app-token-not-found', 'App token does not exist'],
  4003: ['app-token-signature-mismatch', 'Invalid signature'],
  4004: ['app-token-request-expired', 'Token expired'],
  4006: ['app-token-not-all-auth-params-provided', 'Not all required authorization headers were provided'],
  10501: ['not-in-partners-list', 'Reusing applicants is not allowed since the target is not your partner'],
  10502: ['invalid-partner-id', 'The partner ID extracted from the share token is invalid'],
  10503: ['invalid-share-token', 'The provided share token is malformed or expired'],
  10504: ['non-suitable-share-token', 'The share token is not suitable for reuse with the given level'],
  10505: ['reusable-kyc-disabled', 'Reusable KYC functionality is disabled'],
  10506: ['reusable-kyc-not-reusable', 'The donor applicant does not meet reuse eligibility criteria'],
  10507: ['reusable-kyc-not-approved-applicant', 'The donor applicant is not in an approved state'],
  10508: ['reusable-kyc-not-active-applicant', 'The donor applicant is not in an active state'],
  10509: ['reusable-kyc-not-kyc-moderation-type', 'The moderation type of the source KYC is not suitable for reuse'],
  10510: ['reusable-kyc-not-selfie-or-identity-doc', 'Required selfie or identity document is missing'],
  10511: ['reusable-kyc-not-selfie-liveness', 'Liveness is required but not satisfied by the source data'],
  10512: [
    'reusable-kyc-not-req-doc-overlap',
    'Required document types do not overlap between source and target levels',
  ],
  10513: ['reusable-kyc-not-compatible-doc-type', 'Not Reusable KYC for level'],
  10514: ['reusable-kyc-not-actual-poi-date', 'The proof of identity is outdated and not valid for reuse'],
  10515: ['reusable-kyc-not-actual-poa-date', 'The proof of address is outdated and not valid for reuse'],
  10516: ['reusable-kyc-not-acceptable-age', 'The donor applicant does not meet the age criteria of the level'],
  10517: ['reusable-kyc-incompatible-capture-settings', 'The capture settings of source and target levels differ'],
  // Two pages of the provider use this number. The page on reuse names it `reusable-kyc-email-mismatch`.
  10518: ['copy-applicant-disabled', 'Copying applicants is disabled for you'],
  10519: ['reusable-kyc-phone-mismatch', 'The phone of the donor does not match the phone of the applicant'],
  10521: ['reusable-kyc-inactive-sumsub-id-account', 'The account of the donor holds no documents'],
} as const satisfies Readonly<Record<number, readonly [name: string, description: string]>>

/** An error number of the provider. */
export type ErrorCode = keyof typeof numberedErrors

/** An answer other than success. */
export class ProviderRejection extends Error {
  override readonly name = 'ProviderRejection'
  readonly status: number
  readonly errorCode: ErrorCode | null
  /** @param description - The provider's description, or the number of a known error. */
  constructor(status: number, description: string | ErrorCode) {
    super(typeof description === 'string' ? description : numberedErrors[description][1])
    this.status = status
    this.errorCode = typeof description === 'string' ? null : description
  }
}

export function buildErrorBody({ status, errorCode, message }: ProviderRejection, correlationId: string) {
  const numbered = errorCode === null ? {} : { errorCode, errorName: numberedErrors[errorCode][0] }
  const type = 'de.smtdp.commons.service.exceptions.ServiceException'
  return { code: status, correlationId, ...numbered, description: message, type }
}

/** The digest of a webhook. SHA-1 is the provider's oldest digest, and receivers must reject it. */
export type DigestAlgorithm = 'HMAC_SHA256_HEX' | 'HMAC_SHA512_HEX' | 'HMAC_SHA1_HEX'

/** The target of a client's events. A failed webhook is retried after 5 minutes, 1, 5 and 18 hours. */
export interface WebhookTarget {
  readonly url: string
  readonly secretKey: string
  /** @default 'HMAC_SHA256_HEX' */
  readonly algorithm?: DigestAlgorithm | undefined
  /** Types of the events for this target. @default all */
  readonly types?: readonly string[] | undefined
}

/** A client of the provider: an integrator that shares, or a service that redeems. */
export interface ProviderClient {
  readonly clientId: string
  /** A token that begins with `sbx:` belongs to the sandbox, as at the provider. */
  readonly appToken: string
  readonly secretKey: string
  /** Verification levels by name, each with its required steps. @default one, `basic-kyc-level` */
  readonly levels?: Readonly<Record<string, readonly string[]>> | undefined
  /** Partner clients for sharing; both sides must name each other. @default none */
  readonly partners?: readonly string[] | undefined
  readonly webhooks?: readonly WebhookTarget[] | undefined
  /** Whether reuse is switched off for this client (error 10505). @default false */
  readonly reuseDisabled?: boolean | undefined
  /** Whether copying is switched off for this client (error 10518). @default false */
  readonly copyDisabled?: boolean | undefined
}

export const defaultLevels: Readonly<Record<string, readonly string[]>> = {
  'basic-kyc-level': ['IDENTITY', 'SELFIE'],
}

/** Options of the provider. */
export interface IdentityProviderOptions {
  /** Integrators that share and services that redeem. */
  readonly clients: readonly ProviderClient[]
  /** The clock of expiry, signatures and retries, in milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
  /** Returns a new id. @default 24 random hex digits */
  readonly newId?: (() => string) | undefined
  /** The port on loopback; 0 picks a free one. @default 0 */
  readonly port?: number | undefined
  /** Whether more than 50 POST or 300 GET requests in 5 seconds are answered 429. @default false */
  readonly rateLimits?: boolean | undefined
  /** Whether the answer to a redemption shows the review; the provider does so only sometimes. @default true */
  readonly showsReview?: boolean | undefined
  /** Whether due webhooks are sent automatically. Otherwise `deliverWebhooks` sends them. @default false */
  readonly sendsWebhooks?: boolean | undefined
  /** Time by the machine's clock after which a pending check becomes GREEN, in milliseconds. @default never */
  readonly approvesAfterMs?: number | undefined
  /** Sends a webhook. A rejection counts as no answer. @default the runtime's fetch */
  readonly sendWebhook?: ((request: Request) => Promise<Response>) | undefined
  /** Longest wait for the answer of a webhook, in milliseconds. @default 5000 */
  readonly webhookTimeoutMs?: number | undefined
}

export interface ReceivedRequest {
  readonly method: string
  /** Path with query, byte for byte as sent. */
  readonly uri: string
  readonly header: (name: string) => string | null
  readonly body: Buffer
}

/** The largest difference between a request's time and the provider's clock, in seconds, in either direction. */
const windowSeconds = 60

/** The client that signed the request. @throws ProviderRejection 401 with 4000 to 4006. */
export function authenticate(request: ReceivedRequest, clients: Iterable<ProviderClient>, now: number): ProviderClient {
  const appToken = request.header('x-app-token')
  const timestamp = request.header('x-app-access-ts')
  const signature = request.header('x-app-access-sig')
  if (appToken === null || timestamp === null || signature === null) throw new ProviderRejection(401, 4006)
  if (!/^[\x21-\x7e]+$/.test(appToken)) throw new ProviderRejection(401, 4000)
  const client = [...clients].find((each) => each.appToken === appToken)
  if (client === undefined) throw new ProviderRejection(401, 4001)
  const isTimely =
    /^\d{1,15}$/.test(timestamp) && Math.abs(Number(timestamp) - Math.floor(now / 1_000)) <= windowSeconds
  if (!isTimely) throw new ProviderRejection(401, 4004)
  const expected = createHmac('sha256', client.secretKey)
    .update(`${timestamp}${request.method}${request.uri}`)
    .update(request.body)
    .digest('hex')
  const givenSignature = Buffer.from(signature)
  if (givenSignature.length !== expected.length || !timingSafeEqual(givenSignature, Buffer.from(expected)))
    throw new ProviderRejection(401, 4003)
  return client
}

const windowMs = 5_000
const maxRequests: Readonly<Record<string, number>> = { GET: 300, POST: 50 }

/** Makes a counter of each caller's requests. The counter throws a ProviderRejection 429 when the window is full. */
export function createRateLimiter(): (caller: string, method: string, now: number) => void {
  const counts = new Map<string, { readonly window: number; count: number }>()
  return (caller, method, now) => {
    const window = Math.floor(now / windowMs)
    const key = `${method} ${caller}`
    const stored = counts.get(key)
    const current = stored?.window === window ? stored : { window, count: 0 }
    counts.set(key, current)
    current.count += 1
    if (current.count > (maxRequests[method] ?? Number.POSITIVE_INFINITY))
      throw new ProviderRejection(429, 'Too many requests')
  }
}
