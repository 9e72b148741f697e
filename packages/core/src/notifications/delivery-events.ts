/** What is told of settled attempts. @module */
import type { ServiceEvent } from '../events.js'
import type { AttemptRecord, ClaimedDelivery, DeliveryStatus, EndpointTurn } from '../ports/store-deliveries.js'
import type { Attempted } from './attempt.js'
import { namedDelivery } from './named-delivery.js'

/**
 * The events of a settled attempt and of the rejected one before it, in order.
 * @param outcome - Where the delivery stands after them.
 */
export function attemptEvents(attempted: Attempted, outcome: DeliveryStatus): ServiceEvent[] {
  const { claim, rejected, attempt, verdict, publishedMs } = attempted
  const { reason, replay } = attempt
  const named = namedDelivery(claim)
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
    const { deliveryId, chainId, txHash, integrationAddress, version } = named
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
    ...namedDelivery(claim),
    attempt: number,
    status,
    reason,
    latencyMs,
    replay,
    ...after,
  }
}

/** The event of an endpoint that began to be blocked, or answers again. */
export function endpointEvent({ integrationAddress, blocked, failingMs }: EndpointTurn): ServiceEvent {
  return { type: blocked ? 'endpoint.failing' : 'endpoint.recovered', integrationAddress, failingMs }
}
