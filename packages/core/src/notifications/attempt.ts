/** Attempts a delivery: open the secret, sign, post, decide what follows. Source: docs/architecture.md. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { describeError } from '../internal/describe-error.js'
import type { Post, Sender } from '../ports/sender.js'
import type { AttemptRecord, AttemptVerdict, ClaimedDelivery } from '../ports/store-deliveries.js'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import { namedDelivery } from './named-delivery.js'
import type { OpenSecret } from './opened-secrets.js'
import { type AttemptResult, failureReason, nextVerdict } from './schedule.js'
import { deliveryHeaders } from './sign-delivery.js'

/** What an attempt needs from outside. */
export interface AttemptDeps {
  readonly sender: Sender
  readonly openSecret: OpenSecret
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'fraction'>
  readonly logger: Logger
}

/** A claimed delivery, and when it was claimed by the clock of this process. */
export interface HeldClaim {
  readonly claim: ClaimedDelivery
  /** Unix milliseconds, taken before the claim was asked for: its lease ends no sooner than `leaseEndsAt`. */
  readonly claimedAt: number
  readonly leaseEndsAt: number
}

/** An attempt that was made and is to be settled. */
export interface Attempted extends HeldClaim {
  /**
   * The attempt before it, whose signature the receiver rejected within the grace time of a rotation; null: there was
   * none.
   */
  readonly rejected: AttemptRecord | null
  readonly attempt: AttemptRecord
  readonly verdict: AttemptVerdict
  readonly judged: boolean
  /** Milliseconds from the commit of the snapshot, or from its replay, to the end of the attempt. */
  readonly publishedMs: number
}

/**
 * Builds the function that attempts a claimed delivery: once, and within the grace time of a rotated signing secret
 * once more with the previous one, where the receiver rejects the new one (docs/decisions/secrets.md). It never
 * rejects, and resolves null when nothing is to be settled: the sender failed in a way that it must not, or the lease
 * is too far gone to hold a post, as after a pause of the process. Then the delivery comes back when its lease ends.
 */
export function createAttempt(deps: AttemptDeps): (held: HeldClaim) => Promise<Attempted | null> {
  const { sender, openSecret, clock, random, logger } = deps

  async function sign(claim: ClaimedDelivery, sealed: SealedSecret) {
    const { integrationAddress, body } = claim
    try {
      const secret = openSecret(sealed, integrationAddress)
      return await deliveryHeaders({ secret, integrationAddress, body, now: clock.now() })
    } catch (error) {
      // Only the kind of error is logged: its message comes from code that held the secret.
      logger.error({ ...namedDelivery(claim), error: kindOf(error) }, 'secret unreadable')
      return null
    }
  }

  /** Whether a whole post fits into the lease. */
  const fits = (startedAt: number, { leaseEndsAt }: HeldClaim) => startedAt + deliveryTimeoutMs <= leaseEndsAt

  async function post({ notificationUrl: url, body }: ClaimedDelivery, headers: Post['headers'], startedAt: number) {
    return { startedAt, result: await sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs }) }
  }

  /**
   * Posts what the receiver rejected once more, signed with the previous secret. Null: there is none in force, or no
   * time left for it.
   */
  async function retryWithPrevious(held: HeldClaim, previous: SealedSecret) {
    const { claim } = held
    const headers = await sign(claim, previous)
    const startedAt = clock.now()
    return headers === null || !fits(startedAt, held) ? null : post(claim, headers, startedAt)
  }

  return async (held) => {
    const { claim, claimedAt, leaseEndsAt } = held
    try {
      const headers = await sign(claim, claim.signingSecret)
      const startedAt = clock.now()
      if (!fits(startedAt, held)) {
        logger.warn(namedDelivery(claim), 'claim too old to be posted; the delivery comes back when its lease ends')
        return null
      }
      const first: Sent =
        headers === null
          ? { startedAt, result: { kind: 'failure', reason: 'secret_unreadable', latencyMs: 0 } }
          : await post(claim, headers, startedAt)
      const { previousSigningSecret: previous } = claim
      const isGrace = previous !== null && isRejection(first.result) && clock.now() < previous.until
      const retried = isGrace ? await retryWithPrevious(held, previous) : null
      const last = retried ?? first
      const now = clock.now()
      const verdict = nextVerdict({ step: claim.step, result: last.result, fraction: random.fraction(), now })
      // A replay is asked for by an operator; its retries are retries. A secret that we cannot open is our own fault,
      // and so is a rejection while receivers change over: then only a delivery says anything of the endpoint.
      const isOfRotation = isGrace && verdict.kind !== 'delivered'
      const judged = headers !== null && !(claim.replay && claim.step === 1) && !isOfRotation
      const publishedMs = claim.ageMs + Math.max(0, now - claimedAt)
      const rejected = retried === null ? null : attemptRecord(first, claim)
      const attempt = attemptRecord(last, claim)
      return { claim, claimedAt, leaseEndsAt, rejected, attempt, verdict, judged, publishedMs }
    } catch (error) {
      const fields = { ...namedDelivery(claim), error: describeError(error) }
      logger.error(fields, 'attempt failed; the delivery comes back when its lease ends')
      return null
    }
  }
}

/** A post with its result. */
interface Sent {
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly result: AttemptResult
}

/** The statuses by which receivers reject a signature. */
const rejections: ReadonlySet<number> = new Set([400, 401, 403])

function isRejection(result: AttemptResult): boolean {
  return result.kind === 'answer' && rejections.has(result.status)
}

function attemptRecord({ startedAt, result }: Sent, { replay }: ClaimedDelivery): AttemptRecord {
  const isAnswer = result.kind === 'answer'
  return {
    startedAt,
    latencyMs: result.latencyMs,
    status: isAnswer ? result.status : null,
    reason: failureReason(result),
    excerpt: isAnswer ? withoutSecrets(result.excerpt) : null,
    replay,
  }
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

/** A receiver's error page may print its environment: secrets that we issued are taken out before anything is kept. */
function withoutSecrets(excerpt: string | null): string | null {
  return excerpt === null ? null : excerpt.replaceAll(/pi_(?:whsec|api|legacy)_[\w-]+/g, '[hidden]')
}
