/** Claims and posts within the bounds of one run. Source: docs/decisions/fairness.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClaimRequest } from '../ports/store-deliveries.js'
import { type Alarm, createAlarm } from './alarm.js'
import { type AttemptDeps, createAttempt, type HeldClaim } from './attempt.js'
import { createSettler, type SettlerDeps } from './settler.js'
import { createSlots } from './slots.js'

/** What a round needs from outside. */
export type RoundDeps = AttemptDeps & Omit<SettlerDeps, 'onWriting' | 'onSettled'>

/** The bounds of a round; see the options of the dispatcher. */
export interface Bounds {
  readonly concurrency: number
  readonly perEndpoint: number
  readonly batch: number
  readonly leaseMs: number
}

/**
 * What a claim left. `batch`: it was as large as it may be. `full`: it brought all that there was room for. `bound`: an endpoint or
 * the retries had all they may by what was in flight when it was asked for. `nothing`: what was due is taken.
 */
export type Leftover = 'batch' | 'full' | 'bound' | 'nothing'

/** What a claim came to. */
export interface Claimed {
  readonly started: number
  readonly left: Leftover
}

/** One run of a dispatcher: its slots, its posts in flight and its settler. */
export interface Round {
  /** Rings when there is room again for what a claim had to leave. */
  readonly alarm: Alarm
  /** Whether a claim makes sense. When it does not, the alarm rings as soon as it does. */
  hasRoom(): boolean
  /** Claims as many as there is room for and starts them. Rejects with the store's error. */
  claim(): Promise<Claimed>
  /** Whether something is posted or waits to be settled. */
  isBusy(): boolean
  /** Resolves once nothing is in flight and everything is settled or given up. Never rejects. */
  drained(): Promise<void>
}

/** Posts that are started one after the other before answers are read: all of a large claim at once would keep the receivers idle, and then this process. */
const startsAtOnce = 32

/** Opens a round. */
export function openRound(deps: RoundDeps, { concurrency, perEndpoint, batch, leaseMs }: Bounds): Round {
  const { store, clock } = deps
  const alarm = createAlarm(clock)
  const slots = createSlots({ concurrency, perEndpoint })
  const attempt = createAttempt(deps)
  let onIdle = () => {}
  let left: Leftover = 'nothing'
  const ring = () => {
    if (left !== 'nothing') alarm.ring()
  }
  /** Posts that have ended since the last claim was asked for. */
  let ended = 0
  const settler = createSettler({ ...deps, onWriting: ringForMany, onSettled: ring })
  /** Whether the store is so slow to take results that twice as many wait as could be posted. */
  const isBehind = () => settler.waiting() >= 2 * concurrency

  /** As a rule a commit rings. While one takes its time, a quarter of the slots is enough for a claim that is worth its cost. */
  function ringForMany(): void {
    if (left !== 'nothing' && ended * 4 >= concurrency && settler.isWriting()) alarm.ring()
  }

  async function start(claimed: readonly HeldClaim[]): Promise<void> {
    for (const { claim } of claimed) slots.take(claim)
    for (let begun = 0; begun < claimed.length; begun += startsAtOnce) {
      if (begun > 0) await nextTurn()
      for (const held of claimed.slice(begun, begun + startsAtOnce)) void post(held)
    }
  }

  async function post(held: HeldClaim): Promise<void> {
    // Never rejects.
    const attempted = await attempt(held)
    ended += 1
    slots.release(held.claim)
    if (attempted === null) ring()
    else {
      settler.add(attempted)
      ringForMany()
    }
    if (slots.taken() === 0) onIdle()
  }

  return {
    alarm,
    hasRoom() {
      if (!isBehind() && slots.taken() < concurrency) return true
      left = 'full'
      return false
    },
    async claim() {
      // While there is more than there is room for, answers that have arrived make the claim larger, and each of it cheaper.
      if (left !== 'nothing') await nextTurn()
      const { asked, isBound } = slots.room()
      const limit = isBehind() ? 0 : Math.min(batch, asked.limit)
      // What ends while the claim runs may be the room that it lacked.
      left = 'full'
      // Answers that arrived in that turn may fill what waits to be settled.
      if (limit === 0) return { started: 0, left }
      ended = 0
      alarm.forget()
      const claimedAt = clock.now()
      const request: ClaimRequest = { ...asked, limit, leaseMs, again: Math.min(limit, asked.again), perEndpoint }
      const claims = await store.deliveries.claim(request)
      void start(claims.map((claim) => ({ claim, claimedAt, leaseEndsAt: claimedAt + leaseMs })))
      if (claims.length < limit) left = isBound(claims) ? 'bound' : 'nothing'
      else if (limit === batch) left = 'batch'
      ringForMany()
      return { started: claims.length, left }
    },
    isBusy: () => slots.taken() > 0 || settler.waiting() > 0,
    async drained() {
      if (slots.taken() > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve
        })
      await settler.drained()
    },
  }
}
