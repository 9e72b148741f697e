/** What a dispatcher may still take. @module */
import type { ClaimRequest } from '@payment-integration/core/ports'
import type { Candidate } from './candidate.js'

/** What a dispatcher may still take. */
export interface Room {
  /** Deliveries. */
  left: number
  /** Retries, replays and probes among them. */
  again: number
  /** Its free slots. */
  free: number
  readonly perEndpoint: number
  /** How many it holds by endpoint, those taken included. */
  readonly held: Map<string, number>
  /** The same by integration. */
  readonly heldOf: Map<string, number>
  /** The integration that was served last, by endpoint. */
  readonly served: Map<string, string>
  /** Integrations whose probe was taken. */
  readonly probed: Set<string>
}

/** Most endpoints whose last turn is remembered. Forgetting one begins its turns anew. */
const mostServed = 4_096

/** Stands for no bound. */
const noBound = Number.MAX_SAFE_INTEGER

/**
 * The room that a request leaves.
 * @param served - Who was served last, by endpoint; it is kept up to date.
 */
export function roomOf(request: ClaimRequest, served: Map<string, string>): Room {
  const { limit, again = limit, perEndpoint = noBound, held, heldOf, free = noBound } = request
  return {
    left: limit,
    again: Math.min(again, limit),
    free,
    perEndpoint,
    held: new Map(held ?? []),
    heldOf: new Map(heldOf ?? []),
    served,
    probed: new Set(),
  }
}

/** How many deliveries of a lane there is room for. */
export const roomFor = ({ left, again }: Room, lane: number): number => (lane === 0 ? left : Math.min(left, again))

/** How many of an endpoint's are held. */
export const holds = ({ held }: Room, endpoint: string): number => held.get(endpoint) ?? 0

/** How many of an integration's are held. */
export const holdsOf = ({ heldOf }: Room, integration: string): number => heldOf.get(integration) ?? 0

/** Whether an endpoint that holds so many may be given one more. */
export const mayHold = ({ perEndpoint, free }: Room, holding: number): boolean => holding < Math.min(perEndpoint, free)

/** Counts a candidate as held. */
export function hold(room: Room, candidate: Candidate): void {
  count(room, candidate, 1)
  const { served } = room
  if (served.size >= mostServed) served.clear()
  served.set(candidate.endpoint, candidate.integration)
}

/** Takes note that a candidate was not to be had. */
export const giveBack = (room: Room, candidate: Candidate): void => count(room, candidate, -1)

function count(room: Room, { lane, integration, endpoint, probe }: Candidate, by: 1 | -1): void {
  room.left -= by
  room.free -= by
  if (lane > 0) room.again -= by
  room.held.set(endpoint, holds(room, endpoint) + by)
  room.heldOf.set(integration, holdsOf(room, integration) + by)
  if (!probe) return
  if (by === 1) room.probed.add(integration)
  else room.probed.delete(integration)
}

/**
 * How many of one endpoint to read, so that the room can be filled evenly: as if each of the endpoints had more than enough due.
 * @param endpoints - Those that had something due the last time.
 */
export function evenShare(room: Room, want: number, endpoints: readonly string[]): number {
  const most = Math.min(want, room.perEndpoint)
  const heights = endpoints.map((endpoint) => holds(room, endpoint)).sort((a, b) => a - b)
  const [lowest = 0] = heights
  let sum = 0
  for (const [index, height] of heights.entries()) {
    sum += height
    const level = Math.ceil((want + sum) / (index + 1))
    if (level <= (heights[index + 1] ?? level)) return Math.max(1, Math.min(most, level - lowest))
  }
  return most
}
