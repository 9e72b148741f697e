/** The way of a delivery: claim, sign, POST, record, settle. See docs/decisions/fairness.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClaimedDelivery } from '../ports/store-deliveries.js'
import { type AttemptDeps, createAttempt } from './attempt.js'
import type { DispatcherLimits } from './dispatcher-options.js'
import type { LeasedDelivery } from './leased-delivery.js'
import { createSettler, type SettlerDeps } from './settler.js'
import { createSleeper } from './sleeper.js'
import { createSlots, type FreeSlots } from './slots.js'

/** The dependencies of a round. */
export type RoundDeps = AttemptDeps & Omit<SettlerDeps, 'blockCapMs' | 'onCommitBegun' | 'onSettled'>

/**
 * Why a claim brought no more deliveries.
 *
 * - `batchFull`: it brought a whole batch; the next claim follows at once.
 * - `noFreeSlots`: it filled the free slots; the next finished POST wakes the loop.
 * - `limitReached`: an endpoint or the retries are at their limit; the next finished POST wakes the loop.
 * - `allClaimed`: nothing else can be claimed now.
 */
export type ClaimEnd = 'batchFull' | 'noFreeSlots' | 'limitReached' | 'allClaimed'

/** One run of a dispatcher: its slots, POSTs in flight and settler. */
export interface Round {
  /** Whether there is a free slot to claim for. If not, the round wakes its loop once there is one. */
  canClaim(): boolean
  /** Claims for the free slots and starts the deliveries. Rejects with the store's error. */
  claim(): Promise<{ readonly started: number; readonly end: ClaimEnd }>
  /** Sleeps up to `ms` (null: without end), until a wake or an abort. */
  sleep(ms: number | null, signal?: AbortSignal): Promise<void>
  wake(): void
  /** Whether a POST is in flight or an attempt is unsettled. */
  isBusy(): boolean
  /** Resolves once nothing is in flight or unsettled. Never rejects. */
  drained(): Promise<void>
}

/** Most POSTs started in one turn of the event loop, so that responses are read between the parts of a large claim. */
const startsPerTurn = 32

/** Opens a round. */
export function openRound(deps: RoundDeps, limits: Omit<DispatcherLimits, 'idlePollMs'>): Round {
  const { store, clock } = deps
  const { concurrency, perEndpoint, batch, leaseMs, blockCapMs } = limits
  const sleeper = createSleeper(clock)
  const slots = createSlots(limits)
  const attempt = createAttempt(deps)
  const settler = createSettler({ ...deps, blockCapMs, onCommitBegun: wakeDuringCommit, onSettled: wakeIfMoreDue })
  /** How the last claim ended. */
  let lastEnd: ClaimEnd = 'allClaimed'
  /** POSTs finished since the last claim began. */
  let finished = 0
  let onIdle = () => {}

  async function claim() {
    // Under backlog, yield once: more free slots make a larger batch.
    if (lastEnd !== 'allClaimed') await nextTurn()
    const { request, isLimitReached } = slots.freeSlots()
    const limit = isBehind() ? 0 : Math.min(batch, request.limit)
    // Until the claim returns, a POST that finishes may free the slot it lacked.
    lastEnd = 'noFreeSlots'
    if (limit === 0) return { started: 0, end: lastEnd }
    finished = 0
    sleeper.forgetWake()
    const claimedAt = clock.now()
    const maxRetries = Math.min(limit, request.maxRetries)
    const claims = await store.deliveries.claim({ ...request, limit, leaseMs, maxRetries, perEndpoint })
    void start(claims.map((claim) => ({ claim, claimedAt, leaseEndsAt: claimedAt + leaseMs })))
    lastEnd = endOf(claims, limit, isLimitReached)
    wakeDuringCommit()
    return { started: claims.length, end: lastEnd }
  }

  async function start(leased: readonly LeasedDelivery[]): Promise<void> {
    for (const { claim } of leased) slots.take(claim)
    for (let begun = 0; begun < leased.length; begun += startsPerTurn) {
      if (begun > 0) await nextTurn()
      for (const delivery of leased.slice(begun, begun + startsPerTurn)) void deliver(delivery)
    }
  }

  /** Never rejects. */
  async function deliver(leased: LeasedDelivery): Promise<void> {
    const attempted = await attempt(leased) // sign, POST, record
    finished += 1
    slots.release(leased.claim)
    if (attempted === null) wakeIfMoreDue()
    else {
      settler.add(attempted) // settle, together with others
      wakeDuringCommit()
    }
    if (slots.inFlight() === 0) onIdle()
  }

  function endOf(claimed: readonly ClaimedDelivery[], limit: number, isLimitReached: FreeSlots['isLimitReached']) {
    if (claimed.length < limit) return isLimitReached(claimed) ? 'limitReached' : 'allClaimed'
    return limit === batch ? 'batchFull' : 'noFreeSlots'
  }

  /** Whether twice as many attempts are unsettled as could be in flight: the store is too slow for another claim. */
  function isBehind(): boolean {
    return settler.unsettled() >= 2 * concurrency
  }

  function wakeIfMoreDue(): void {
    if (lastEnd !== 'allClaimed') sleeper.wake()
  }

  /** A finished commit wakes the loop. During a slow one, a quarter of the slots is worth a claim. */
  function wakeDuringCommit(): void {
    if (finished * 4 >= concurrency && settler.isWriting()) wakeIfMoreDue()
  }

  return {
    claim,
    canClaim() {
      if (!isBehind() && slots.inFlight() < concurrency) return true
      lastEnd = 'noFreeSlots'
      return false
    },
    sleep: sleeper.sleep,
    wake: sleeper.wake,
    isBusy: () => slots.inFlight() > 0 || settler.unsettled() > 0,
    async drained() {
      if (slots.inFlight() > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve
        })
      await settler.drained()
    },
  }
}
