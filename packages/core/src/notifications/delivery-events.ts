/** The events of settled attempts. @module */
import type { ServiceEvent } from '../events.js'
import type { AttemptRecord, ClaimedDelivery, EndpointTransition, SettledStatus } from '../ports/store-deliveries.js'
import { type Attempted, deliveryFields } from './leased-delivery.js'

/**
 * The events of a settled attempt, after those of the rejected one before it.
 * @param outcome - The status of the delivery after both.
 */
export function attemptEvents(attempted: Attempted, outcome: SettledStatus): ServiceEvent[] {
  const { claim, rejected, attempt, verdict, publishedMs } = attempted
  const { reason, replay } = attempt
  const fields = deliveryFields(claim)
  const last = {
    number: rejected === null ? claim.attempt : claim.attempt + 1,
    outcome,
    publishedMs: outcome === 'delivered' && !replay ? publishedMs : null,
    retryInMs: outcome === 'pending' && verdict.kind === 'retry' ? verdict.inMs : null,
  }
  const first = { number: claim.attempt, outcome: 'pending', publishedMs: null, retryInMs: 0 } as const
  const events: ServiceEvent[] = [
    ...(rejected === null ? [] : [attemptEvent(claim, rejected, first)]),
    attemptEvent(claim, attempt, last),
  ]
  if (outcome === 'exhausted') {
    const { deliveryId, chainId, txHash, integrationAddress, version } = fields
    events.push({ type: 'delivery.exhausted', deliveryId, chainId, txHash, integrationAddress, version, reason })
  }
  return events
}

type AttemptEvent = Extract<ServiceEvent, { type: 'delivery.attempted' }>

function attemptEvent(
  claim: ClaimedDelivery,
  { status, reason, latencyMs, replay }: AttemptRecord,
  { number, ...after }: Pick<AttemptEvent, 'outcome' | 'publishedMs' | 'retryInMs'> & { readonly number: number },
): AttemptEvent {
  return {
    type: 'delivery.attempted',
    ...deliveryFields(claim),
    attempt: number,
    status,
    reason,
    latencyMs,
    replay,
    ...after,
  }
}

/** The event of an endpoint whose block began or ended. */
export function endpointEvent({
  integrationAddress,
  failures,
  blockedUntil,
  failingMs,
}: EndpointTransition): ServiceEvent {
  if (blockedUntil === null) return { type: 'endpoint.recovered', integrationAddress, failingMs }
  return { type: 'endpoint.failing', integrationAddress, failures, blockedUntil, failingMs }
}
