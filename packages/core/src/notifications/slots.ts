/** What a dispatcher has in flight, and how much more it may take. Source: docs/decisions/fairness.md. @module */
import { createHoldings, type HoldingCounts, type SlotHolder } from './holdings.js'

/** What a claim may bring. */
export interface ClaimRoom {
  /** The parts of a request that tell of slots. */
  readonly asked: {
    readonly limit: number
    readonly again: number
    readonly held: ReadonlyMap<string, number>
    readonly heldOf: ReadonlyMap<string, number>
    /** How many an endpoint that holds as many gets no more beside; undefined: the bound of each is all there is. */
    readonly free: number | undefined
  }
  /** Whether with what it brought an endpoint or the retries hold as much as they may: then something due may have been left. */
  isBound(claimed: readonly SlotHolder[]): boolean
}

/** The slots of one run. */
export interface Slots {
  take(holder: SlotHolder): void
  release(holder: SlotHolder): void
  /** How many are taken. */
  taken(): number
  /** What a claim may bring at this moment. It does not change afterwards. */
  room(): ClaimRoom
}

/**
 * Builds the slots. Retries, replays and probes together take at most half of them, so that first attempts never wait for a backlog of
 * failures. An endpoint that holds as many as are free gets no more: however many are slow, some slots stay free for the others. Not so where
 * one endpoint may take all of them.
 * @param options.concurrency - In all. @param options.perEndpoint - Of one endpoint.
 */
export function createSlots({ concurrency, perEndpoint }: { concurrency: number; perEndpoint: number }): Slots {
  const held = createHoldings()
  const mostAgain = Math.max(1, Math.floor(concurrency / 2))
  const keptFree = (taken: number) => (perEndpoint < concurrency ? concurrency - taken : undefined)

  // By what was held when the claim was asked for: what has ended since could not be taken into account.
  function isBound(before: HoldingCounts, claimed: readonly SlotHolder[]): boolean {
    const after = createHoldings(before)
    for (const holder of claimed) after.add(holder)
    const most = Math.min(perEndpoint, keptFree(after.all) ?? perEndpoint)
    return after.again >= mostAgain || [...after.byEndpoint.values()].some((count) => count >= most)
  }

  return {
    take: held.add,
    release: held.remove,
    taken: () => held.all,
    room() {
      const before = createHoldings(held)
      const { all, again, byEndpoint, byIntegration } = before
      const asked = { limit: concurrency - all, again: Math.max(0, mostAgain - again), free: keptFree(all) }
      return {
        asked: { ...asked, held: byEndpoint, heldOf: byIntegration },
        isBound: (claimed) => isBound(before, claimed),
      }
    },
  }
}
