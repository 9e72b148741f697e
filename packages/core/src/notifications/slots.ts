/** What a dispatcher has in flight, and how much more it may take. Source: docs/decisions/fairness.md. @module */
import type { ClaimedDelivery } from '../ports/store-deliveries.js'
import { endpointOf } from './endpoint-of.js'

/** What tells whose slot a delivery takes, and whether it is a retry. */
export type SlotHolder = Pick<
  ClaimedDelivery,
  'integrationAddress' | 'notificationUrl' | 'attempt' | 'replay' | 'probe'
>

/** The slots of one run. */
export interface Slots {
  take(holder: SlotHolder): void
  release(holder: SlotHolder): void
  /** How many are free. */
  free(): number
  /** How many an endpoint that holds as many gets no more beside; undefined: the bound of each is all there is. */
  keptFree(): number | undefined
  /** How many retries, replays and probes may still be taken. */
  again(): number
  /** How many each endpoint holds: a copy. */
  held(): Map<string, number>
  /** How many each integration holds: a copy. */
  heldOf(): Map<string, number>
  /** Whether an endpoint or the retries hold as much as they may: then something due may have been left. */
  atBound(): boolean
}

/**
 * Builds the slots. Retries, replays and probes together take at most half of them, so that first attempts never wait for a backlog of
 * failures. An endpoint that holds as many as are free gets no more: however many are slow, some slots stay free for the others. Not so where
 * one endpoint may take all of them.
 * @param options.concurrency - In all. @param options.perEndpoint - Of one endpoint.
 */
export function createSlots({ concurrency, perEndpoint }: { concurrency: number; perEndpoint: number }): Slots {
  const held = new Map<string, number>()
  const heldOf = new Map<string, number>()
  const mostAgain = Math.max(1, Math.floor(concurrency / 2))
  let taken = 0
  let again = 0
  const isAgain = ({ attempt, replay, probe }: SlotHolder) => replay || probe || attempt > 1
  const keptFree = () => (perEndpoint < concurrency ? concurrency - taken : undefined)
  const againLeft = () => Math.max(0, mostAgain - again)
  return {
    take(holder) {
      taken += 1
      if (isAgain(holder)) again += 1
      count(held, endpointOf(holder.notificationUrl), 1)
      count(heldOf, holder.integrationAddress, 1)
    },
    release(holder) {
      taken -= 1
      if (isAgain(holder)) again -= 1
      count(held, endpointOf(holder.notificationUrl), -1)
      count(heldOf, holder.integrationAddress, -1)
    },
    free: () => concurrency - taken,
    keptFree,
    again: againLeft,
    held: () => new Map(held),
    heldOf: () => new Map(heldOf),
    atBound() {
      const most = Math.min(perEndpoint, keptFree() ?? perEndpoint)
      return againLeft() === 0 || [...held.values()].some((count) => count >= most)
    },
  }
}

function count(held: Map<string, number>, name: string, by: 1 | -1): void {
  const now = (held.get(name) ?? 0) + by
  if (now > 0) held.set(name, now)
  else held.delete(name)
}
