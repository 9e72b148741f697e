/** One attempt of one delivery: open the secret, sign, post, settle, tell. Source: DESIGN section 2, flow 3. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import type { EventSink } from '../events.js'
import { describeError } from '../internal/describe-error.js'
import type { Sender } from '../ports/sender.js'
import type { Store } from '../ports/store.js'
import type { AttemptRecord, AttemptVerdict, ClaimedDelivery, DeliveryStatus } from '../ports/store-deliveries.js'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import { type AttemptResult, failureReason, nextVerdict } from './schedule.js'
import { deliveryHeaders } from './sign-delivery.js'

/** What an attempt needs from outside. */
export interface AttemptDeps {
  readonly store: Pick<Store, 'deliveries'>
  readonly sender: Sender
  /** Opens a signing secret; throws when it cannot be read. */
  readonly openSecret: (sealed: SealedSecret, integrationAddress: string) => string
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'fraction'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
}

/**
 * Builds the function that attempts a claimed delivery. It never rejects: what cannot be settled is logged, and the
 * delivery comes back when its lease ends.
 */
export function createAttempt(deps: AttemptDeps): (claim: ClaimedDelivery) => Promise<void> {
  const { store, sender, openSecret, clock, random, publish, logger } = deps

  async function send(claim: ClaimedDelivery): Promise<AttemptResult> {
    const { integrationAddress, notificationUrl: url, body } = claim
    let headers: Record<string, string>
    try {
      const secret = openSecret(claim.signingSecret, integrationAddress)
      headers = await deliveryHeaders({ secret, integrationAddress, body, now: clock.now() })
    } catch (error) {
      // Only the kind of error is logged: its message comes from code that held the secret.
      logger.error({ ...named(claim), error: error instanceof Error ? error.name : typeof error }, 'secret unreadable')
      return { kind: 'failure', reason: 'secret_unreadable', latencyMs: 0 }
    }
    return sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs })
  }

  return async (claim) => {
    const startedAt = clock.now()
    try {
      const result = await send(claim)
      const { attempt } = claim
      const verdict = nextVerdict({ attempt, result, fraction: random.fraction(), now: clock.now() })
      const record: AttemptRecord = {
        startedAt,
        latencyMs: result.latencyMs,
        status: result.kind === 'answer' ? result.status : null,
        reason: failureReason(result),
      }
      const outcome = await store.deliveries.settle(claim, record, verdict)
      if (outcome === null) logger.warn({ ...named(claim), ...record }, 'claim lost before the attempt was settled')
      else publish(attemptedEvent(claim, record, verdict, outcome))
    } catch (error) {
      const fields = { ...named(claim), error: describeError(error) }
      logger.error(fields, 'attempt not settled; the delivery comes back when its lease ends')
    }
  }
}

function attemptedEvent(
  claim: ClaimedDelivery,
  { status, reason, latencyMs }: AttemptRecord,
  verdict: AttemptVerdict,
  outcome: DeliveryStatus,
) {
  const retryInMs = outcome === 'pending' && verdict.kind === 'retry' ? verdict.inMs : null
  return { type: 'delivery.attempted', ...named(claim), status, reason, latencyMs, outcome, retryInMs } as const
}

function named({ deliveryId, chainId, txHash, integrationAddress, version, attempt }: ClaimedDelivery) {
  return { deliveryId, chainId, txHash, integrationAddress, version, attempt }
}
