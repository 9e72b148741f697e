/** One attempt: sign, POST, record. See docs/decisions/retries.md. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { describeError } from '../internal/describe-error.js'
import type { Sender } from '../ports/sender.js'
import type { AttemptRecord, ClaimedDelivery } from '../ports/store-deliveries.js'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import { type Attempted, deliveryFields, type LeasedDelivery } from './leased-delivery.js'
import type { OpenSecret } from './opened-secrets.js'
import { type AttemptResult, failureReason, nextVerdict } from './schedule.js'
import { deliveryHeaders } from './sign-delivery.js'

/** Most bytes of a response body in the attempt log. */
export const excerptBytes = 1_024

/** The dependencies of an attempt. */
export interface AttemptDeps {
  readonly sender: Sender
  readonly openSecret: OpenSecret
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'fraction'>
  readonly logger: Logger
}

/** A POST with its result. */
interface Posted {
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly result: AttemptResult
}

/** The POSTs of one attempt. */
interface Posts {
  readonly first: Posted
  /** The same body signed with the previous secret, after the receiver rejected the current one; else null. */
  readonly second: Posted | null
  /** Whether the current secret could be opened. */
  readonly isSigned: boolean
  /** Whether the receiver rejected the signature within the grace time of a rotation. */
  readonly isRotating: boolean
}

/**
 * Builds the function that attempts a delivery. It resolves null when there is nothing to settle: the lease is too
 * short for a POST, or the sender threw. The delivery is due again when its lease ends. It never rejects.
 */
export function createAttempt(deps: AttemptDeps): (leased: LeasedDelivery) => Promise<Attempted | null> {
  const { sender, openSecret, clock, random, logger } = deps

  async function sign(claim: ClaimedDelivery, sealed: SealedSecret) {
    const { integrationAddress, body } = claim
    try {
      const secret = openSecret(sealed, integrationAddress)
      return await deliveryHeaders({ secret, integrationAddress, body, now: clock.now() })
    } catch (error) {
      // The message of this error comes from code that saw the secret, so only its kind is logged.
      logger.error({ ...deliveryFields(claim), error: kindOf(error) }, 'secret unreadable')
      return null
    }
  }

  async function post(claim: ClaimedDelivery, headers: Record<string, string>, startedAt: number): Promise<Posted> {
    const { notificationUrl: url, body } = claim
    const delivery = deliveryFields(claim)
    return { startedAt, result: await sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs, delivery }) }
  }

  /** Null: the lease is too short for a POST. */
  async function signAndPost({ claim, leaseEndsAt }: LeasedDelivery): Promise<Posts | null> {
    const headers = await sign(claim, claim.signingSecret)
    const startedAt = clock.now()
    if (!fitsLease(startedAt, leaseEndsAt)) {
      logger.warn(deliveryFields(claim), 'lease too short for a POST; the delivery is due again when it ends')
      return null
    }
    const isSigned = headers !== null
    const first = isSigned ? await post(claim, headers, startedAt) : unreadable(startedAt)
    const previous = claim.previousSigningSecret
    const isRotating = previous !== null && isRejection(first.result) && clock.now() < previous.until
    const second = isRotating ? await postWithPrevious(claim, previous, leaseEndsAt) : null
    return { first, second, isSigned, isRotating }
  }

  async function postWithPrevious(claim: ClaimedDelivery, previous: SealedSecret, leaseEndsAt: number) {
    const headers = await sign(claim, previous)
    const startedAt = clock.now()
    if (headers === null || !fitsLease(startedAt, leaseEndsAt)) return null
    return post({ ...claim, attempt: claim.attempt + 1 }, headers, startedAt)
  }

  function record(leased: LeasedDelivery, { first, second, isSigned, isRotating }: Posts): Attempted {
    const { claim, claimedAt } = leased
    const last = second ?? first
    const now = clock.now()
    const verdict = nextVerdict({ step: claim.step, result: last.result, fraction: random.fraction(), now })
    const isReplay = claim.replay && claim.step === 1
    const isOurFault = !isSigned || (isRotating && verdict.kind !== 'delivered')
    return {
      ...leased,
      rejected: second === null ? null : attemptRecord(first, claim),
      attempt: attemptRecord(last, claim),
      verdict,
      countsForHealth: !isReplay && !isOurFault,
      publishedMs: claim.ageMs + Math.max(0, now - claimedAt),
    }
  }

  return async (leased) => {
    try {
      const posts = await signAndPost(leased)
      return posts === null ? null : record(leased, posts)
    } catch (error) {
      const fields = { ...deliveryFields(leased.claim), error: describeError(error) }
      logger.error(fields, 'attempt failed; the delivery is due again when its lease ends')
      return null
    }
  }
}

const fitsLease = (startedAt: number, leaseEndsAt: number): boolean => startedAt + deliveryTimeoutMs <= leaseEndsAt

const unreadable = (startedAt: number): Posted => ({
  startedAt,
  result: { kind: 'failure', reason: 'secret_unreadable', latencyMs: 0 },
})

/** The statuses with which receivers reject a signature. */
const rejections: ReadonlySet<number> = new Set([400, 401, 403])

function isRejection(result: AttemptResult): boolean {
  return result.kind === 'answer' && rejections.has(result.status)
}

function attemptRecord({ startedAt, result }: Posted, { replay }: ClaimedDelivery): AttemptRecord {
  const isAnswer = result.kind === 'answer'
  return {
    startedAt,
    latencyMs: result.latencyMs,
    status: result.status ?? null,
    reason: failureReason(result),
    excerpt: isAnswer ? withoutSecrets(result.excerpt) : null,
    replay,
  }
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

/** Removes our secrets: a receiver's error page may print its environment. */
export function withoutSecrets(excerpt: string | null): string | null {
  return excerpt === null ? null : excerpt.replaceAll(/pi_(?:whsec|api|legacy)_[\w-]+/g, '[hidden]')
}
