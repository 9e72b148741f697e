/** What a dispatcher has in flight, and how much more it may take. Source: docs/decisions/fairness.md. @module */
import type { ClaimedDelivery } from '../ports/store-deliveries.js'

/** What tells whose slot a delivery takes, and whether it is a retry. */
export type SlotHolder = Pick<ClaimedDelivery, 'integrationAddress' | 'attempt' | 'replay'>

/** The slots of one run. */
export interface Slots {
  take(holder: SlotHolder): void
  release(holder: SlotHolder): void
  /** How many are free. */
  free(): number
  /** How many retries and replays may still be taken. */
  again(): number
  /** How many each endpoint holds: a copy. */
  held(): Map<string, number>
  /** Whether an endpoint or the retries hold as much as they may: then something due may have been left. */
  atBound(): boolean
}

/**
 * Builds the slots. Retries and replays together take at most half of them, so that first attempts never wait for a backlog of failures.
 * @param options.concurrency - In all. @param options.perEndpoint - Of one endpoint.
 */
export function createSlots({ concurrency, perEndpoint }: { concurrency: number; perEndpoint: number }): Slots {
  const held = new Map<string, number>()
  const mostAgain = Math.max(1, Math.floor(concurrency / 2))
  let taken = 0
  let again = 0
  const isAgain = ({ attempt, replay }: SlotHolder) => replay || attempt > 1
  const againLeft = () => Math.max(0, mostAgain - again)
  return {
    take(holder) {
      taken += 1
      if (isAgain(holder)) again += 1
      held.set(holder.integrationAddress, (held.get(holder.integrationAddress) ?? 0) + 1)
    },
    release(holder) {
      taken -= 1
      if (isAgain(holder)) again -= 1
      const left = (held.get(holder.integrationAddress) ?? 0) - 1
      if (left > 0) held.set(holder.integrationAddress, left)
      else held.delete(holder.integrationAddress)
    },
    free: () => concurrency - taken,
    again: againLeft,
    held: () => new Map(held),
    atBound: () => againLeft() === 0 || [...held.values()].some((count) => count >= perEndpoint),
  }
}
