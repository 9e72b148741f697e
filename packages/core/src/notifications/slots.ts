/** What a dispatcher has in hand, and how much more it may take. Source: docs/decisions/fairness.md. @module */
import { endpointOf } from './endpoint-of.js'
import { afterEnding, createHoldings, type HoldingCounts, type Holdings, isAgain, type SlotHolder } from './holdings.js'

/** What a claim may bring. */
export interface ClaimRoom {
  /** The parts of a request that tell of slots. */
  readonly asked: {
    readonly limit: number
    readonly again: number
    readonly held: ReadonlyMap<string, number>
    readonly heldOf: ReadonlyMap<string, number>
    readonly free: number | undefined
  }
  /** Whether with what it brought an endpoint or the retries hold as much as they may: then something due may have been left. */
  isBound(claimed: readonly SlotHolder[]): boolean
}

/** The slots of one run, for what holds a claim. */
export interface Slots<Held extends { readonly claim: SlotHolder }> {
  /** What a claim may bring now: for the slots that are free, and for those that are expected to be when it is back. */
  room(): ClaimRoom
  /** A claim begins. Returns what is called when it is back: what ended meanwhile is what the next one expects. */
  claiming(): () => void
  /** Takes what was claimed into hand. Returns what may be posted at once; the rest waits for a slot. */
  take(claimed: readonly Held[]): readonly Held[]
  /** A post has ended. Returns what waited and may be posted now. */
  release(held: Held): readonly Held[]
  /** How many are in hand: posted, or waiting for a slot. */
  inHand(): number
}

/**
 * Builds the slots. Retries, replays and probes together take at most half of them, so that first attempts never wait for a backlog of
 * failures. An endpoint that holds as many as are free gets no more: however many are slow, some slots stay free for the others. Not so where
 * one endpoint may take all of them.
 *
 * While a database works at a claim most posts end, and then nothing is under way until it is back. So a claim also asks for the slots of as
 * many posts as ended during the last claim. What comes back before its slot is free waits for it and takes nothing from what needs another
 * one: whatever waits, a free slot is claimed for whoever may have it.
 * @param options.concurrency - In all. @param options.perEndpoint - Of one endpoint.
 */
export function createSlots<Held extends { readonly claim: SlotHolder }>(options: {
  readonly concurrency: number
  readonly perEndpoint: number
}): Slots<Held> {
  const { concurrency, perEndpoint } = options
  const mostAgain = Math.max(1, Math.floor(concurrency / 2))
  const inHand = createHoldings()
  const posting = createHoldings()
  let waiting: readonly Held[] = []
  let ending = createHoldings()
  let endedMeanwhile: Holdings | null = null
  const keptFree = (taken: number) => (perEndpoint < concurrency ? concurrency - taken : undefined)
  const mostOfOne = (taken: number) => Math.min(perEndpoint, keptFree(taken) ?? perEndpoint)

  function hasSlot({ claim }: Held): boolean {
    if (posting.all >= concurrency || (isAgain(claim) && posting.again >= mostAgain)) return false
    return (posting.byEndpoint.get(endpointOf(claim.notificationUrl)) ?? 0) < mostOfOne(posting.all)
  }

  /** Gives slots in the order in which claims came; what gets none goes on waiting. */
  function giveSlots(candidates: readonly Held[]): readonly Held[] {
    const without: Held[] = []
    const given = candidates.filter((held) => {
      const isGiven = hasSlot(held)
      if (isGiven) posting.add(held.claim)
      else without.push(held)
      return isGiven
    })
    waiting = without
    return given
  }

  // By what was held when the claim was asked for: what has ended since could not be taken into account.
  function isBound(before: HoldingCounts, claimed: readonly SlotHolder[]): boolean {
    const after = createHoldings(before)
    for (const holder of claimed) after.add(holder)
    return after.again >= mostAgain || [...after.byEndpoint.values()].some((count) => count >= mostOfOne(after.all))
  }

  return {
    room() {
      const left = afterEnding({ inHand, posting, ending })
      const { all, again, byEndpoint, byIntegration } = left
      const asked = { limit: concurrency - all, again: Math.max(0, mostAgain - again), free: keptFree(all) }
      return {
        asked: { ...asked, held: byEndpoint, heldOf: byIntegration },
        isBound: (claimed) => isBound(left, claimed),
      }
    },
    claiming() {
      const meanwhile = createHoldings()
      endedMeanwhile = meanwhile
      return () => {
        ending = meanwhile
        endedMeanwhile = null
      }
    },
    take(claimed) {
      for (const { claim } of claimed) inHand.add(claim)
      return giveSlots([...waiting, ...claimed])
    },
    release({ claim }) {
      inHand.remove(claim)
      posting.remove(claim)
      endedMeanwhile?.add(claim)
      return waiting.length === 0 ? waiting : giveSlots(waiting)
    },
    inHand: () => inHand.all,
  }
}
