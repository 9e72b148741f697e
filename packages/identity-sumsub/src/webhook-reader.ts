/** Authenticates and parses webhooks of the provider. @module */
import { formatUnreadableJson } from '@payment-integration/contract/internal'
import { assertModestJson } from '@payment-integration/contract/internal-io'
import { WebhookRejectedError } from './errors.js'
import { checkCredential, createHmacCheck, type Digest, getField, toRecord, toText } from './signed-calls.js'
import { parseReview, parseTime, type SumsubReview } from './sumsub-client.js'

/** The secrets of a webhook. */
export interface WebhookReaderOptions {
  /** The secret of the webhook, as set at the provider; several during a rotation. */
  readonly secret: string | readonly string[]
}

export interface RawWebhook {
  /** The body, byte for byte. */
  readonly body: Uint8Array
  /** Value of `X-Payload-Digest`, or null. */
  readonly digest: string | null
  /** Value of `X-Payload-Digest-Alg`, or null. */
  readonly algorithm: string | null
}

/** An event about an applicant. */
export interface ApplicantEvent {
  readonly kind: 'applicant'
  /** The same for every copy of one event. */
  readonly eventKey: string
  /** The provider's name of the event, such as `applicantReviewed`. */
  readonly type: string
  readonly applicantId: string
  readonly externalUserId: string | null
  /** The level of the applicant; null when the event has none. */
  readonly levelName: string | null
  /** The provider's time of the event, in unix milliseconds. A greater one is newer, in any order of arrival. */
  readonly at: number
  /** The kind of change: the review changed, or the applicant was activated, deactivated or deleted. */
  readonly change: 'review' | 'activated' | 'deactivated' | 'deleted'
  /** The status of the verification; null when the event has none. */
  readonly review: SumsubReview | null
}

/** A webhook about another matter: answer 200 and ignore it. */
export interface OtherEvent {
  readonly kind: 'other'
  readonly type: string | null
}

/**
 * Authenticates and parses one webhook.
 * @throws WebhookRejectedError `ERR_PROVIDER_WEBHOOK_UNSIGNED`, `ERR_PROVIDER_WEBHOOK_FORGED` or
 * `ERR_PROVIDER_WEBHOOK_MALFORMED`.
 */
export type WebhookReader = (webhook: RawWebhook) => Promise<ApplicantEvent | OtherEvent>

/** Accepted digests. SHA-1, the provider's oldest, is rejected: an attacker can choose the algorithm in the header. */
const digests: ReadonlyMap<string, Digest> = new Map([
  ['HMAC_SHA256_HEX', 'SHA-256'],
  ['HMAC_SHA512_HEX', 'SHA-512'],
])

/** Events about the status of a verification. Actions, transactions and interviews have verdicts of their own. */
const reviewTypes = new Set([
  'applicantCreated',
  'applicantPending',
  'applicantPrechecked',
  'applicantReviewed',
  'applicantOnHold',
  'applicantAwaitingUser',
  'applicantAwaitingService',
  'applicantReset',
  'applicantStepsReset',
  'applicantLevelChanged',
  'applicantWorkflowCompleted',
  'applicantWorkflowFailed',
])
/** Events about the applicant itself. The review of a deactivated or deleted applicant is ignored. */
const presenceTypes: ReadonlyMap<string, ApplicantEvent['change']> = new Map([
  ['applicantActivated', 'activated'],
  ['applicantDeactivated', 'deactivated'],
  ['applicantDeleted', 'deleted'],
  ['applicantPersonalDataDeleted', 'deleted'],
])

/**
 * Creates the reader of webhooks, which rejects a forged one with `ERR_PROVIDER_WEBHOOK_FORGED`: see {@link
 * WebhookReader}.
 * @throws TypeError When there is no secret, or one is blank.
 * @example
 * import { createWebhookReader } from '@payment-integration/identity-sumsub/service'
 * const readWebhook = createWebhookReader({ secret: process.env['SUMSUB_WEBHOOK_SECRET'] ?? '' })
 * export async function readEvent(request: Request) {
 *   const { headers } = request
 *   const [digest, algorithm] = [headers.get('x-payload-digest'), headers.get('x-payload-digest-alg')]
 *   return readWebhook({ body: new Uint8Array(await request.arrayBuffer()), digest, algorithm })
 * }
 */
export function createWebhookReader({ secret }: WebhookReaderOptions): WebhookReader {
  const secrets = (typeof secret === 'string' ? [secret] : [...secret]).map((each) => checkCredential('secret', each))
  if (secrets.length === 0) throw new TypeError('secret is an empty list; pass at least one.')
  const checks = secrets.map(createHmacCheck)
  return async ({ body, digest, algorithm }) => {
    if (digest === null || algorithm === null)
      throw new WebhookRejectedError(
        'ERR_PROVIDER_WEBHOOK_UNSIGNED',
        'A webhook came without X-Payload-Digest or its algorithm.',
      )
    const knownDigest = digests.get(algorithm)
    if (knownDigest === undefined)
      throw new WebhookRejectedError(
        'ERR_PROVIDER_WEBHOOK_UNSIGNED',
        `A webhook names a digest other than ${[...digests.keys()].join(' and ')}; choose one of these at the provider.`,
      )
    const matches = await Promise.all(checks.map((check) => check(knownDigest, digest, body)))
    if (!matches.includes(true))
      throw new WebhookRejectedError(
        'ERR_PROVIDER_WEBHOOK_FORGED',
        'The digest of a webhook does not belong to its body.',
      )
    return parseEvent(parseObject(body))
  }
}

function parseEvent(event: Readonly<Record<string, unknown>>): ApplicantEvent | OtherEvent {
  const type = toText(getField(event, 'type'))
  if (type === null || !(reviewTypes.has(type) || presenceTypes.has(type))) return { kind: 'other', type }
  const applicantId = toText(getField(event, 'applicantId'))
  const at = parseTime(getField(event, 'createdAtMs')) ?? parseTime(getField(event, 'createdAt'))
  if (applicantId === null || at === null)
    throw new WebhookRejectedError('ERR_PROVIDER_WEBHOOK_MALFORMED', `A webhook ${type} has no applicantId or no time.`)
  const eventKey = [applicantId, toText(getField(event, 'correlationId')) ?? '', type, at].join(':')
  const externalUserId = toText(getField(event, 'externalUserId'))
  const change = presenceTypes.get(type) ?? 'review'
  const levelName = toText(getField(event, 'levelName'))
  const review = toReview(event, type, change)
  return { kind: 'applicant', eventKey, type, applicantId, externalUserId, levelName, at, change, review }
}

/** Events that reset a review. They may still carry the former result: a sample of the provider shows GREEN. */
const resetTypes = new Set(['applicantReset', 'applicantStepsReset', 'applicantLevelChanged'])

function toReview(
  event: Readonly<Record<string, unknown>>,
  type: string,
  change: ApplicantEvent['change'],
): SumsubReview | null {
  const status = resetTypes.has(type) ? 'init' : getField(event, 'reviewStatus')
  if (change === 'deactivated' || change === 'deleted' || (change === 'activated' && status === undefined)) return null
  return parseReview(status, getField(event, 'reviewResult'))
}

function parseObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  let event: unknown
  try {
    assertModestJson(body)
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    const message = formatUnreadableJson(body, 'The body of a webhook is no JSON.')
    throw new WebhookRejectedError('ERR_PROVIDER_WEBHOOK_MALFORMED', message)
  }
  const object = toRecord(event)
  if (object === null)
    throw new WebhookRejectedError('ERR_PROVIDER_WEBHOOK_MALFORMED', 'The body of a webhook is no object.')
  return object
}
