/** The free slots of a dispatcher while a claim fills them. See docs/decisions/fairness.md. @module */
import type { ClaimRequest } from '@payment-integration/core/ports'

/** The facts of a due delivery that decide which limits its slot counts for. */
export interface SlotUser {
  /** 1 for every probe. */
  readonly lane: number
  readonly integration: string
  /** As `endpointOf` names it. */
  readonly endpoint: string
  /** Its integration was blocked; this delivery tests whether it answers again. */
  readonly probe: boolean
}

/** The free slots of a dispatcher, and its POSTs in flight. The candidates of the claim count as in flight. */
export interface FreeSlots {
  /** Deliveries that the claim may still take. */
  limit: number
  /** Retries, replays and probes among them. */
  maxRetries: number
  /** Free slots of the dispatcher, the limit of one endpoint. */
  freeSlots: number
  readonly perEndpoint: number
  readonly inFlightByEndpoint: Map<string, number>
  readonly inFlightByIntegration: Map<string, number>
  /** The integration served last, by endpoint. */
  readonly lastServed: Map<string, string>
  /** Integrations whose probe is taken. */
  readonly probed: Set<string>
}

/** Most endpoints whose last served integration is remembered. */
const maxLastServed = 4_096

const noLimit = Number.MAX_SAFE_INTEGER

/** @param lastServed - The integration served last, by endpoint; updated in place. */
export function freeSlotsOf(request: ClaimRequest, lastServed: Map<string, string>): FreeSlots {
  const { limit, maxRetries = limit, perEndpoint = noLimit, freeSlots = noLimit } = request
  return {
    limit,
    maxRetries: Math.min(maxRetries, limit),
    freeSlots,
    perEndpoint,
    inFlightByEndpoint: new Map(request.inFlightByEndpoint ?? []),
    inFlightByIntegration: new Map(request.inFlightByIntegration ?? []),
    lastServed,
    probed: new Set(),
  }
}

/** How many deliveries of a lane the claim may still take. */
export const limitOfLane = ({ limit, maxRetries }: FreeSlots, lane: number): number =>
  lane === 0 ? limit : Math.min(limit, maxRetries)

/** POSTs in flight to an endpoint. */
export const inFlightTo = ({ inFlightByEndpoint }: FreeSlots, endpoint: string): number =>
  inFlightByEndpoint.get(endpoint) ?? 0

/** POSTs in flight for an integration. */
export const inFlightFor = ({ inFlightByIntegration }: FreeSlots, integration: string): number =>
  inFlightByIntegration.get(integration) ?? 0

/** Whether an endpoint with so many POSTs in flight is below its limit. */
export const isBelowLimit = ({ perEndpoint, freeSlots }: FreeSlots, inFlight: number): boolean =>
  inFlight < Math.min(perEndpoint, freeSlots)

/** Gives a slot to a candidate. */
export function takeSlot(slots: FreeSlots, user: SlotUser): void {
  count(slots, user, 1)
  const { lastServed } = slots
  if (lastServed.size >= maxLastServed) lastServed.clear()
  lastServed.set(user.endpoint, user.integration)
}

/** Releases the slot of a candidate that could not be claimed. */
export const releaseSlot = (slots: FreeSlots, user: SlotUser): void => count(slots, user, -1)

function count(slots: FreeSlots, { lane, integration, endpoint, probe }: SlotUser, by: 1 | -1): void {
  slots.limit -= by
  slots.freeSlots -= by
  if (lane > 0) slots.maxRetries -= by
  slots.inFlightByEndpoint.set(endpoint, inFlightTo(slots, endpoint) + by)
  slots.inFlightByIntegration.set(integration, inFlightFor(slots, integration) + by)
  if (!probe) return
  if (by === 1) slots.probed.add(integration)
  else slots.probed.delete(integration)
}

/**
 * How many deliveries of one endpoint to read, if `count` slots are filled evenly and every endpoint has a backlog.
 * @param endpoints - Those that had deliveries due in the last claim.
 */
export function evenShare(slots: FreeSlots, count: number, endpoints: readonly string[]): number {
  const most = Math.min(count, slots.perEndpoint)
  const heights = endpoints.map((endpoint) => inFlightTo(slots, endpoint)).sort((a, b) => a - b)
  const [lowest = 0] = heights
  let sum = 0
  for (const [index, height] of heights.entries()) {
    sum += height
    const level = Math.ceil((count + sum) / (index + 1))
    if (level <= (heights[index + 1] ?? level)) return Math.max(1, Math.min(most, level - lowest))
  }
  return most
}
