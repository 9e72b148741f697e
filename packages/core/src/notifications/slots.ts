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
  /** About how many a claim could bring; `room` says it by endpoint. */
  free(): number
  /** What a claim may bring now: what is free, and what is expected to be when the claim is back. */
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
 * many posts as ended during the last claim, each for its endpoint: for none of an endpoint that answers nothing. What comes back before its
 * slot is free waits for it, no longer than a post takes: never more waits for an endpoint than is being posted to it.
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
  let expected = createHoldings()
  let ended: Holdings | null = null
  const keptFree = (taken: number) => (perEndpoint < concurrency ? Math.max(0, concurrency - taken) : undefined)

  function hasSlot({ claim }: Held): boolean {
    if (posting.all >= concurrency || (isAgain(claim) && posting.again >= mostAgain)) return false
    return (posting.byEndpoint.get(endpointOf(claim.notificationUrl)) ?? 0) < perEndpoint
  }

  /** Gives slots in the order in which claims came; what gets none goes on waiting. */
  function post(candidates: readonly Held[]): readonly Held[] {
    const left: Held[] = []
    const posted = candidates.filter((held) => {
      const isPosted = hasSlot(held)
      if (isPosted) posting.add(held.claim)
      else left.push(held)
      return isPosted
    })
    waiting = left
    return posted
  }

  // By what was held when the claim was asked for: what has ended since could not be taken into account.
  function isBound(before: HoldingCounts, claimed: readonly SlotHolder[]): boolean {
    const { all, again, byEndpoint } = claimed.reduce(withOne, createHoldings(before))
    const most = Math.min(perEndpoint, keptFree(all) ?? perEndpoint)
    return again >= mostAgain || [...byEndpoint.values()].some((count) => count >= most)
  }

  return {
    free: () => concurrency - inHand.all + Math.min(expected.all, posting.all),
    room() {
      const left = afterEnding(inHand, expected, posting)
      const { all, again, byEndpoint, byIntegration } = left
      const limit = Math.max(0, concurrency - all)
      const asked = { limit, again: Math.max(0, mostAgain - again), held: byEndpoint, heldOf: byIntegration }
      return { asked: { ...asked, free: keptFree(all) }, isBound: (claimed) => isBound(left, claimed) }
    },
    claiming() {
      const during = createHoldings()
      ended = during
      return () => {
        expected = during
        ended = null
      }
    },
    take(claimed) {
      for (const { claim } of claimed) inHand.add(claim)
      return post([...waiting, ...claimed])
    },
    release({ claim }) {
      inHand.remove(claim)
      posting.remove(claim)
      ended?.add(claim)
      return waiting.length === 0 ? waiting : post(waiting)
    },
    inHand: () => inHand.all,
  }
}

function withOne(holdings: Holdings, holder: SlotHolder): Holdings {
  holdings.add(holder)
  return holdings
}
