/** One attempt of one delivery: open the secret, sign, post, decide what follows. Source: DESIGN section 2, flow 3. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { describeError } from '../internal/describe-error.js'
import type { Sender } from '../ports/sender.js'
import type { AttemptRecord, AttemptVerdict, ClaimedDelivery } from '../ports/store-deliveries.js'
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
  readonly attempt: AttemptRecord
  readonly verdict: AttemptVerdict
  readonly judged: boolean
  /** Milliseconds from the commit of the snapshot, or from its replay, to the end of the attempt. */
  readonly publishedMs: number
}

/**
 * Builds the function that attempts a claimed delivery. It never rejects, and resolves null when nothing is to be settled: the sender
 * failed in a way that it must not, or the lease is too far gone to hold a post, as after a pause of the process. Then the delivery
 * comes back when its lease ends.
 */
export function createAttempt(deps: AttemptDeps): (held: HeldClaim) => Promise<Attempted | null> {
  const { sender, openSecret, clock, random, logger } = deps

  async function sign(claim: ClaimedDelivery) {
    const { integrationAddress, signingSecret, body } = claim
    try {
      const secret = openSecret(signingSecret, integrationAddress)
      return await deliveryHeaders({ secret, integrationAddress, body, now: clock.now() })
    } catch (error) {
      // Only the kind of error is logged: its message comes from code that held the secret.
      logger.error({ ...namedDelivery(claim), error: kindOf(error) }, 'secret unreadable')
      return null
    }
  }

  return async (held) => {
    const { claim, claimedAt, leaseEndsAt } = held
    try {
      const headers = await sign(claim)
      const startedAt = clock.now()
      if (startedAt + deliveryTimeoutMs > leaseEndsAt) {
        logger.warn(namedDelivery(claim), 'claim too old to be posted; the delivery comes back when its lease ends')
        return null
      }
      const { notificationUrl: url, body } = claim
      const result: AttemptResult =
        headers === null
          ? { kind: 'failure', reason: 'secret_unreadable', latencyMs: 0 }
          : await sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs })
      const now = clock.now()
      const isAnswer = result.kind === 'answer'
      const attempt: AttemptRecord = {
        startedAt,
        latencyMs: result.latencyMs,
        status: isAnswer ? result.status : null,
        reason: failureReason(result),
        excerpt: isAnswer ? withoutSecrets(result.excerpt) : null,
        replay: claim.replay,
      }
      const verdict = nextVerdict({ step: claim.step, result, fraction: random.fraction(), now })
      // A replay is asked for by an operator; its retries are retries. A secret that we cannot open is our own fault.
      const judged = headers !== null && !(claim.replay && claim.step === 1)
      const publishedMs = claim.ageMs + Math.max(0, now - claimedAt)
      return { claim, claimedAt, leaseEndsAt, attempt, verdict, judged, publishedMs }
    } catch (error) {
      const fields = { ...namedDelivery(claim), error: describeError(error) }
      logger.error(fields, 'attempt failed; the delivery comes back when its lease ends')
      return null
    }
  }
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

/** A receiver's error page may print its environment: secrets that we issued are taken out before anything is kept. */
function withoutSecrets(excerpt: string | null): string | null {
  return excerpt === null ? null : excerpt.replaceAll(/pi_(?:whsec|api|legacy)_[\w-]+/g, '[hidden]')
}
