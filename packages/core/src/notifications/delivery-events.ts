/** What is told of settled attempts. @module */
import type { ServiceEvent } from '../events.js'
import type { DeliveryStatus, EndpointTurn } from '../ports/store-deliveries.js'
import type { Attempted } from './attempt.js'
import { namedDelivery } from './named-delivery.js'

/** The events of one settled attempt, in order. @param outcome - Where the delivery stands after it. */
export function attemptEvents(attempted: Attempted, outcome: DeliveryStatus): ServiceEvent[] {
  const { claim, attempt, verdict, publishedMs } = attempted
  const { status, reason, latencyMs, replay } = attempt
  const named = namedDelivery(claim)
  const events: ServiceEvent[] = [
    {
      type: 'delivery.attempted',
      ...named,
      status,
      reason,
      latencyMs,
      replay,
      publishedMs: outcome === 'delivered' && !replay ? publishedMs : null,
      outcome,
      retryInMs: outcome === 'pending' && verdict.kind === 'retry' ? verdict.inMs : null,
    },
  ]
  if (outcome === 'exhausted') {
    const { deliveryId, chainId, txHash, integrationAddress, version } = named
    events.push({ type: 'delivery.exhausted', deliveryId, chainId, txHash, integrationAddress, version, reason })
  }
  return events
}

/** The event of an endpoint that began to be blocked, or answers again. */
export function endpointEvent({ integrationAddress, blocked, failingMs }: EndpointTurn): ServiceEvent {
  return { type: blocked ? 'endpoint.failing' : 'endpoint.recovered', integrationAddress, failingMs }
}
