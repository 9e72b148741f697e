/** Sends deliveries: claim, sign, POST, record, settle. Source: docs/decisions/fairness.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { assertWhole } from '../internal/values.js'
import { createSleeper } from '../ports/runtime.js'
import { type AttemptDeps, createAttempt, type LeasedDelivery } from './attempt.js'
import type { ClaimedDelivery, ClaimRequest } from './delivery-store.js'
import { getEndpoint } from './endpoint-health.js'
import { createSettler, type SettlerDeps } from './settler.js'

/** Limits of a dispatcher, which sends deliveries. */
export interface DispatcherOptions {
  /** Maximum of POSTs in flight. Retries and replays take at most half of them. @default 256 */
  readonly concurrency?: number | undefined
  /** Maximum of POSTs in flight to one endpoint. @default 32 */
  readonly perEndpoint?: number | undefined
  /** Maximum of deliveries in one claim; never more than the free slots. @default 256 */
  readonly batch?: number | undefined
  /** Duration of a lease in milliseconds, at least 10 000: the timeout of a POST and 5 s. @default 15000 */
  readonly leaseMs?: number | undefined
  /** Longest wait until the next check for due deliveries, in milliseconds. @default 250 */
  readonly idlePollMs?: number | undefined
  /** Longest block of a failing endpoint in milliseconds, before jitter. It also limits the first. @default 60000 */
  readonly maxBlockMs?: number | undefined
}

export const dispatcherDefaults = {
  concurrency: 256,
  perEndpoint: 32,
  batch: 256,
  leaseMs: 15_000,
  idlePollMs: 250,
  maxBlockMs: 60_000,
} as const

/** The shortest lease: a POST with its whole timeout, and 5 s to settle it. */
const minLeaseMs = deliveryTimeoutMs + 5_000
/** In milliseconds. A lease that is longer than this, and than this dispatcher's own, comes from a clock ahead. */
export const maxPlausibleLeaseMs = 600_000

type DispatcherLimits = Readonly<Record<keyof DispatcherOptions, number>>

/** @throws RangeError When an option is out of range. */
export function checkDispatcherOptions(options: DispatcherOptions = {}): DispatcherLimits {
  const limits: Record<keyof DispatcherOptions, number> = { ...dispatcherDefaults }
  for (const name of Object.keys(dispatcherDefaults) as (keyof DispatcherOptions)[]) {
    limits[name] = options[name] === undefined ? limits[name] : options[name]
    assertWhole(name, limits[name], name === 'leaseMs' ? minLeaseMs : 1)
  }
  return limits
}

type SlotUser = Pick<ClaimedDelivery, 'integrationAddress' | 'notificationUrl' | 'attempt' | 'replay' | 'probe'>

/**
 * Builds the slots. Retries, replays and probes together take at most half of the slots. An endpoint with as many POSTs
 * in flight as slots are free gets no more, unless `perEndpoint` allows one endpoint all slots.
 */
function createSlots({ concurrency, perEndpoint }: Pick<DispatcherLimits, 'concurrency' | 'perEndpoint'>) {
  const current = copyCounts()
  const maxRetries = Math.max(1, Math.floor(concurrency / 2))
  /** The most POSTs to one endpoint while `inFlight` POSTs are in flight; undefined: no limit. */
  const getEndpointLimit = (inFlight: number) => (perEndpoint < concurrency ? concurrency - inFlight : undefined)

  return {
    take: (user: SlotUser) => addToCounts(current, user, 1),
    release: (user: SlotUser) => addToCounts(current, user, -1),
    countInFlight: () => current.all,
    /** The free slots at this moment; later changes do not alter them. */
    readFreeSlots() {
      const before = copyCounts(current)
      const request = {
        limit: concurrency - before.all,
        maxRetries: Math.max(0, maxRetries - before.retryCount),
        freeSlots: getEndpointLimit(before.all),
        inFlightByEndpoint: before.byEndpoint,
        inFlightByIntegration: before.byIntegration,
      } satisfies Omit<ClaimRequest, 'leaseMs'>
      /** Whether `claimed` brings an endpoint or the retries to a limit: the claim may have skipped due deliveries. */
      function isLimitReached(claimed: readonly SlotUser[]): boolean {
        const after = copyCounts(before)
        for (const user of claimed) addToCounts(after, user, 1)
        const maxPerEndpoint = Math.min(perEndpoint, getEndpointLimit(after.all) ?? perEndpoint)
        return after.retryCount >= maxRetries || [...after.byEndpoint.values()].some((posts) => posts >= maxPerEndpoint)
      }
      return { request, isLimitReached }
    },
  }
}

/** POSTs in flight. The maps have no zeros. */
interface Counts {
  all: number
  retryCount: number
  readonly byEndpoint: Map<string, number>
  readonly byIntegration: Map<string, number>
}

function copyCounts(from?: Counts): Counts {
  const { all = 0, retryCount = 0, byEndpoint, byIntegration } = from ?? {}
  return { all, retryCount, byEndpoint: new Map(byEndpoint), byIntegration: new Map(byIntegration) }
}

function addToCounts(counts: Counts, user: SlotUser, delta: 1 | -1): void {
  counts.all += delta
  // Replays and probes count as retries.
  if (user.replay || user.probe || user.attempt > 1) counts.retryCount += delta
  addToCount(counts.byEndpoint, getEndpoint(user.notificationUrl), delta)
  addToCount(counts.byIntegration, user.integrationAddress, delta)
}

function addToCount(counts: Map<string, number>, name: string, delta: number): void {
  const sum = (counts.get(name) ?? 0) + delta
  if (sum > 0) counts.set(name, sum)
  else counts.delete(name)
}

export type DispatchRunDeps = AttemptDeps & Omit<SettlerDeps, 'maxBlockMs' | 'onCommitBegun' | 'onSettled'>

/**
 * Why a claim brought no more deliveries. After `batchFull` the next claim follows at once. After `noFreeSlots` and
 * `limitReached` (of an endpoint or the retries), the next finished POST wakes the loop. `allClaimed`: nothing is left.
 */
type ClaimEnd = 'batchFull' | 'noFreeSlots' | 'limitReached' | 'allClaimed'

export type DispatchRun = ReturnType<typeof createDispatchRun>

/** The most POSTs started in one turn of the event loop, so that responses are read between parts of a large claim. */
const startsPerTurn = 32

export function createDispatchRun(deps: DispatchRunDeps, limits: Omit<DispatcherLimits, 'idlePollMs'>) {
  const { store, clock } = deps
  const { concurrency, perEndpoint, batch, leaseMs, maxBlockMs } = limits
  const sleeper = createSleeper(clock)
  const slots = createSlots(limits)
  const attempt = createAttempt(deps)
  const settler = createSettler({ ...deps, maxBlockMs, onCommitBegun: wakeDuringCommit, onSettled: wakeIfMoreDue })
  let lastEnd: ClaimEnd = 'allClaimed'
  /** The number of POSTs that finished since the last claim began. */
  let finishedCount = 0
  let onIdle = () => {}

  /** Claims for the free slots and starts the deliveries. Rejects with the store's error. */
  async function claim(): Promise<{ readonly started: number; readonly end: ClaimEnd }> {
    // Under backlog, yield once: more free slots make a larger batch.
    if (lastEnd !== 'allClaimed') await nextTurn()
    const { request, isLimitReached } = slots.readFreeSlots()
    const limit = isStoreBehind() ? 0 : Math.min(batch, request.limit)
    // A POST that finishes during the claim may free a slot, so it must wake the loop.
    lastEnd = 'noFreeSlots'
    if (limit === 0) return { started: 0, end: lastEnd }
    finishedCount = 0
    sleeper.forgetWake()
    const claimedAt = clock.now()
    const maxRetries = Math.min(limit, request.maxRetries)
    const claims = await store.deliveries.claim({ ...request, limit, leaseMs, maxRetries, perEndpoint })
    void startPosts(claims.map((claim) => ({ claim, claimedAt, leaseEndsAt: claimedAt + leaseMs })))
    if (claims.length < limit) lastEnd = isLimitReached(claims) ? 'limitReached' : 'allClaimed'
    else if (limit === batch) lastEnd = 'batchFull'
    wakeDuringCommit()
    return { started: claims.length, end: lastEnd }
  }

  async function startPosts(leased: readonly LeasedDelivery[]): Promise<void> {
    for (const { claim } of leased) slots.take(claim)
    for (let begun = 0; begun < leased.length; begun += startsPerTurn) {
      if (begun > 0) await nextTurn()
      for (const delivery of leased.slice(begun, begun + startsPerTurn)) void deliver(delivery)
    }
  }

  /** Never rejects. */
  async function deliver(leased: LeasedDelivery): Promise<void> {
    const attempted = await attempt(leased) // sign, POST, record
    finishedCount += 1
    slots.release(leased.claim)
    if (attempted === null) wakeIfMoreDue()
    else {
      settler.add(attempted) // settle, together with others
      wakeDuringCommit()
    }
    if (slots.countInFlight() === 0) onIdle()
  }

  /** Whether the store is too slow for another claim: twice as many attempts are unsettled as may be in flight. */
  function isStoreBehind(): boolean {
    return settler.countUnsettled() >= 2 * concurrency
  }

  function wakeIfMoreDue(): void {
    if (lastEnd !== 'allClaimed') sleeper.wake()
  }

  /** Wakes the loop during a commit when POSTs of a quarter of the slots have finished. A finished commit does, too. */
  function wakeDuringCommit(): void {
    if (finishedCount * 4 >= concurrency && settler.isWriting()) wakeIfMoreDue()
  }

  return {
    claim,
    /** Whether a slot is free and the store keeps up. If not, the run wakes its loop once that may have changed. */
    canClaim(): boolean {
      if (!isStoreBehind() && slots.countInFlight() < concurrency) return true
      lastEnd = 'noFreeSlots'
      return false
    },
    sleep: sleeper.sleep,
    wake: sleeper.wake,
    /** Whether a POST is in flight or an attempt is unsettled. */
    isBusy: () => slots.countInFlight() > 0 || settler.countUnsettled() > 0,
    /** Resolves once nothing is in flight or unsettled. Never rejects. */
    async drain(): Promise<void> {
      if (slots.countInFlight() > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve
        })
      await settler.drain()
    },
  }
}
