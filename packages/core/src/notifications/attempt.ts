/** One attempt: sign, POST, record. Source: docs/interface.md 6; docs/decisions/retries.md. @module */
import {
  deliveryTimeoutMs,
  integrationHeader,
  notificationUserAgent,
  signatureHeader,
} from '@payment-integration/contract'
import { jsonContentType } from '@payment-integration/contract/internal'
import { signDelivery } from '@payment-integration/webhook/signing'
import { describeError } from '../internal/values.js'
import type { Clock, Logger, PostedDelivery, RandomSource, Sender } from '../ports/runtime.js'
import type { SealedSecret } from '../secrets/keys.js'
import type { AttemptRecord, ClaimedDelivery, SettledAttempt } from './delivery-store.js'
import { type AttemptResult, decideAfterAttempt, getFailureReason } from './retry-schedule.js'

/** Opens a signing secret; throws when it cannot be read. */
export type OpenSecret = (sealed: SealedSecret, integrationAddress: string) => string

/** Caches results, not errors. The integration is in the key: sealed text copied to another row must not open. */
export function cacheOpenedSecrets(open: OpenSecret, maxSecrets = 1_024): OpenSecret {
  const cache = new Map<string, string>()
  return (secret, integrationAddress) => {
    const key = `${integrationAddress} ${secret.keyVersion} ${secret.sealed}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const opened = open(secret, integrationAddress)
    const oldest = cache.size >= maxSecrets ? cache.keys().next().value : undefined
    if (oldest !== undefined) cache.delete(oldest)
    cache.set(key, opened)
    return opened
  }
}

/** Builds the headers of one attempt, with its own time, and a signature over the exact bytes that will be sent. */
export async function buildDeliveryHeaders(
  { integrationAddress, body }: Pick<ClaimedDelivery, 'integrationAddress' | 'body'>,
  secret: string,
  now: number,
): Promise<Record<string, string>> {
  return {
    'Content-Type': jsonContentType,
    'User-Agent': notificationUserAgent,
    [integrationHeader]: integrationAddress,
    [signatureHeader]: await signDelivery({ secret, timestamp: Math.floor(now / 1_000), body }),
  }
}

/** A claimed delivery with its lease by the clock of this process. */
export interface LeasedDelivery {
  readonly claim: ClaimedDelivery
  /** Unix milliseconds, read before the claim began, so the store's lease ends no sooner than `leaseEndsAt`. */
  readonly claimedAt: number
  readonly leaseEndsAt: number
}

/** A recorded attempt, to be settled. */
export interface RecordedAttempt extends LeasedDelivery, Required<Omit<SettledAttempt, 'claim'>> {
  /** Milliseconds from the commit of the snapshot, or its replay, to the end of the attempt. */
  readonly publishedMs: number
}

/** The fields that identify a delivery in events and logs, without URL, body and secret. */
export function pickDeliveryFields(delivery: PostedDelivery): PostedDelivery {
  const { deliveryId, chainId, txHash, integrationAddress, version, attempt } = delivery
  return { deliveryId, chainId, txHash, integrationAddress, version, attempt }
}

/** The most bytes of a response body in the attempt log. */
export const excerptBytes = 1_024

export interface AttemptDeps {
  readonly sender: Sender
  readonly openSecret: OpenSecret
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'fraction'>
  readonly logger: Logger
}

interface SentPost {
  readonly startedAt: number
  readonly result: AttemptResult
}

/** Builds the function that makes one attempt. It never rejects. Null: the lease was too short, or the sender threw. */
export function createAttempt(deps: AttemptDeps): (leased: LeasedDelivery) => Promise<RecordedAttempt | null> {
  const { sender, openSecret, clock, random, logger } = deps

  async function buildSignedHeaders(claim: ClaimedDelivery, sealed: SealedSecret) {
    try {
      return await buildDeliveryHeaders(claim, openSecret(sealed, claim.integrationAddress), clock.now())
    } catch (error) {
      // The code that failed saw the secret, so only the class of its error is logged.
      const name = error instanceof Error ? error.name : typeof error
      logger.error({ ...pickDeliveryFields(claim), error: name }, 'secret unreadable')
      return null
    }
  }

  async function post(claim: ClaimedDelivery, headers: Record<string, string>, startedAt: number): Promise<SentPost> {
    const { notificationUrl: url, body } = claim
    const request = { url, headers, body, timeoutMs: deliveryTimeoutMs, delivery: pickDeliveryFields(claim) }
    return { startedAt, result: await sender.post(request) }
  }

  async function attempt(leased: LeasedDelivery): Promise<RecordedAttempt | null> {
    const { claim, claimedAt, leaseEndsAt } = leased
    const { step, replay, previousSigningSecret: previous } = claim
    const headers = await buildSignedHeaders(claim, claim.signingSecret)
    const startedAt = clock.now()
    if (!fitsLease(startedAt, leaseEndsAt)) {
      logger.warn(pickDeliveryFields(claim), 'lease too short for a POST; the delivery is due again when it ends')
      return null
    }
    const unsent = { kind: 'failure', reason: 'secret_unreadable', latencyMs: 0 } as const
    const first = headers === null ? { startedAt, result: unsent } : await post(claim, headers, startedAt)
    // If the receiver rejects the signature within the grace time, the POST is repeated with the previous secret.
    const isRejected = first.result.kind === 'answer' && [400, 401, 403].includes(first.result.status)
    const isRotating = previous !== null && isRejected && clock.now() < previous.until
    const second = isRotating ? await postWithPrevious(claim, previous, leaseEndsAt) : null

    const last = second ?? first
    const now = clock.now()
    const verdict = decideAfterAttempt({ step, result: last.result, fraction: random.fraction(), now })
    const isReplay = replay && step === 1
    const isServiceFault = headers === null || (isRotating && verdict.kind !== 'delivered')
    return {
      ...leased,
      rejected: second === null ? null : { ...toPostRecord(first), replay },
      attempt: { ...toPostRecord(last), replay },
      verdict,
      countsForHealth: !isReplay && !isServiceFault,
      publishedMs: claim.ageMs + Math.max(0, now - claimedAt),
    }
  }

  async function postWithPrevious(claim: ClaimedDelivery, previous: SealedSecret, leaseEndsAt: number) {
    const headers = await buildSignedHeaders(claim, previous)
    const startedAt = clock.now()
    if (headers === null || !fitsLease(startedAt, leaseEndsAt)) return null
    return post({ ...claim, attempt: claim.attempt + 1 }, headers, startedAt)
  }

  return (leased) =>
    attempt(leased).catch((error: unknown) => {
      const fields = { ...pickDeliveryFields(leased.claim), error: describeError(error) }
      logger.error(fields, 'attempt failed; the delivery is due again when its lease ends')
      return null
    })
}

const fitsLease = (startedAt: number, leaseEndsAt: number) => startedAt + deliveryTimeoutMs <= leaseEndsAt

/** The result of a POST for a log, without secrets of this service. */
export function toPostRecord({ startedAt, result }: SentPost): Omit<AttemptRecord, 'replay'> {
  const excerpt = result.kind === 'answer' ? result.excerpt : null
  return {
    startedAt,
    latencyMs: result.latencyMs,
    status: result.status ?? null,
    reason: getFailureReason(result),
    // A receiver's error page may print its environment.
    excerpt: excerpt?.replaceAll(/pi_(?:whsec|api|legacy)_[\w-]+/g, '[hidden]') ?? null,
  }
}
