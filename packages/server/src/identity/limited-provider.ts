/** Keeps requests below the rate limits of the identity provider. Source: docs/decisions/identity.md. @module */
import { ShareTokenRejectedError } from '@payment-integration/core/identity'
import type { Clock, IdentityProvider, RedeemResult } from '@payment-integration/core/ports'

/** Replaces a gateway's error page, which helps no caller. */
export const tokenTooLong = 'The share token is longer than the identity provider takes'

/** Whether a rejection means that the token is too long, so that the caller's request is malformed. */
export const isTokenTooLong = (error: unknown): boolean =>
  error instanceof ShareTokenRejectedError && error.providerMessage === tokenTooLong

// A limited number of requests begin in a window, a few wait in a queue, and others are shed. Each integration has
// its own queue, and the queues take turns: no integration waits for the backlog of another one.

/** The request may begin, or it is shed and its caller should wait for `retryAfterMs`. */
export type Admission = { readonly kind: 'go' } | { readonly kind: 'shed'; readonly retryAfterMs: number }

interface GateOptions {
  /** The most requests that begin in one window. */
  readonly maxPerWindow: number
  readonly windowMs: number
  /** The most waiting requests. At the limit, the longest queue sheds its last request for one in a shorter queue. */
  readonly maxWaiting: number
  /** The most requests in one queue; further ones are shed at once. */
  readonly maxWaitingPerQueue: number
  /** Longest wait in a queue, in milliseconds. A request that cannot begin in time is shed as soon as that is known. */
  readonly maxWaitMs: number
  /** Monotonic, in milliseconds. */
  readonly clock: Pick<Clock, 'now'>
}

/** `retryAfterMs` of a closed gate: by then another process serves. */
const closedRetryAfterMs = 1_000
/** Tolerance above the longest wait, in milliseconds: timers fire late, and every window adds to that. */
const timerToleranceMs = 100

interface Waiter {
  readonly leave: (admission: Admission) => void
  /** By the clock of the gate, in milliseconds. */
  readonly arrivedAt: number
}

/** Builds a gate with empty queues. */
export function createGate(options: GateOptions) {
  const { maxPerWindow, windowMs, maxWaiting, maxWaitingPerQueue, maxWaitMs, clock } = options
  /** When the newest requests began, oldest first, at most `maxPerWindow`. */
  const beginTimes: number[] = []
  /** The queues in the order of their turns; none is empty. */
  const queues = new Map<string, Waiter[]>()
  let pausedUntil = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Milliseconds until the request at a position may begin; 0 is the next request. */
  function msUntilTurn(position: number): number {
    const freeTurns = maxPerWindow - beginTimes.length
    if (position < freeTurns) return 0
    const index = (position - freeTurns) % maxPerWindow
    const windows = 1 + Math.floor((position - freeTurns) / maxPerWindow)
    return Math.max(0, (beginTimes[index] ?? clock.now()) + windows * windowMs - clock.now())
  }
  /** Builds the answer to a shed request that would have had this position in its queue, from 0. */
  function shedAt(queueName: string, position: number): Admission {
    let requestsAhead = position
    for (const [other, queue] of queues) if (other !== queueName) requestsAhead += Math.min(queue.length, position + 1)
    return { kind: 'shed', retryAfterMs: msUntilTurn(requestsAhead) }
  }
  function tryBegin(): boolean {
    if (msUntilTurn(0) > 0) return false
    if (beginTimes.length === maxPerWindow) beginTimes.shift()
    beginTimes.push(clock.now())
    return true
  }
  /** Takes the next request. Its queue then goes behind the others. */
  function takeNext(): Waiter | undefined {
    const [first] = queues
    if (first === undefined) return undefined
    const [queueName, queue] = first
    queues.delete(queueName)
    const waiter = queue.shift()
    if (queue.length > 0) queues.set(queueName, queue)
    return waiter
  }
  /** Sheds every request that would have waited too long by the next turn. */
  function shedLate(): void {
    const oldestAllowedAt = clock.now() + msUntilTurn(0) - maxWaitMs - timerToleranceMs
    for (const [queueName, queue] of queues) {
      // The oldest request is first in its queue.
      while (queue[0] !== undefined && queue[0].arrivedAt < oldestAllowedAt)
        queue.shift()?.leave(shedAt(queueName, queue.length))
      if (queue.length === 0) queues.delete(queueName)
    }
  }
  function admitWaiting(): void {
    clearTimeout(timer)
    shedLate()
    while (queues.size > 0 && tryBegin()) {
      takeNext()?.leave({ kind: 'go' })
      shedLate()
    }
    if (queues.size > 0) timer = setTimeout(admitWaiting, Math.ceil(msUntilTurn(0)))
  }
  /** Whether a new request may wait in a queue of `length`. At the limit, the longest queue sheds its last request. */
  function makeRoom(length: number): boolean {
    const all = [...queues]
    if (all.reduce((sum, [, queue]) => sum + queue.length, 0) < maxWaiting) return true
    const [first] = all.sort(([, a], [, b]) => b.length - a.length)
    if (first === undefined) return false
    const [longest, queue] = first
    if (queue.length <= length + 1) return false
    queue.pop()?.leave(shedAt(longest, queue.length))
    return true
  }
  function shedAll(retryAfterMs: number): void {
    clearTimeout(timer)
    const all = [...queues.values()].flat()
    queues.clear()
    for (const { leave } of all) leave({ kind: 'shed', retryAfterMs })
  }

  return {
    /** Waits for a turn, first come first served within a queue. It never rejects. */
    async enter(queueName = ''): Promise<Admission> {
      const leftMs = pausedUntil - clock.now()
      if (leftMs > 0)
        return { kind: 'shed', retryAfterMs: leftMs === Number.POSITIVE_INFINITY ? closedRetryAfterMs : leftMs }
      if (queues.size === 0 && tryBegin()) return { kind: 'go' }
      const position = queues.get(queueName)?.length ?? 0
      if (position >= maxWaitingPerQueue || !makeRoom(position)) return shedAt(queueName, position)
      return new Promise((leave) => {
        const queue = queues.get(queueName) ?? []
        queues.set(queueName, queue)
        queue.push({ leave, arrivedAt: clock.now() })
        admitWaiting()
      })
    },
    /** Pauses for `ms` milliseconds: sheds waiting requests, and new ones until the pause is over. */
    pause(ms: number): void {
      pausedUntil = Math.max(pausedUntil, clock.now() + ms)
      shedAll(ms)
    },
    /** Sheds every request from now on. */
    close(): void {
      pausedUntil = Number.POSITIVE_INFINITY
      shedAll(closedRetryAfterMs)
    },
  }
}

/**
 * The most requests that one process begins in 5 seconds. The provider allows 50 redemptions and 300 reads. Source: the
 * provider's page on rate limits.
 */
export const providerLimits = { redemptions: 40, lookUps: 120, polls: 60 } as const

/** Request limits of one process. @default {@link providerLimits} */
export type ProviderLimits = { readonly [Kind in keyof typeof providerLimits]?: number | undefined }

/**
 * Smallest share for {@link computeLimits}: with less, processes that round up would together exceed the provider's
 * limits.
 */
export const minRatePercent = 3

/** The limits of a process with a share of {@link providerLimits}. @param percent - {@link minRatePercent} to 100. */
export function computeLimits(percent: number) {
  const scale = (limit: number) => Math.max(1, Math.floor((limit * percent) / 100))
  const { redemptions, lookUps, polls } = providerLimits
  return { redemptions: scale(redemptions), lookUps: scale(lookUps), polls: scale(polls) }
}

/** The provider's window, in milliseconds. */
const windowMs = 5_000
/**
 * The longest wait of a request, in windows. All waiting redemptions together fill at most this many windows, and those
 * of one integration at most one. A share may send several requests, one after the other, and each waits separately.
 * Look-ups and polls have the same limits.
 */
const waitingWindows = 2
/** Pause after a 429 without Retry-After, in milliseconds. */
const pauseMs = windowMs
/** Longest pause after a 429, in milliseconds, whatever its Retry-After. */
const maxPauseMs = 60_000

/** A provider that can be closed. */
export interface ClosableIdentityProvider extends IdentityProvider {
  /** Sheds waiting requests, and every later one. */
  close(): void
}

interface LimitDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly limits?: ProviderLimits | undefined
  /** In milliseconds. @default performance.now */
  readonly monotonicClock?: Pick<Clock, 'now'> | undefined
}

/**
 * Wraps a provider. Integrations take turns. A request that gets no turn in time is answered `throttled` and never
 * sent, as is every request for a while after a 429 of the provider. A share is then 503 with Retry-After, and a round
 * of polls stops.
 */
export function limitProvider(
  provider: IdentityProvider,
  { clock, limits = {}, monotonicClock = { now: () => performance.now() } }: LimitDeps,
): ClosableIdentityProvider {
  const { redemptions = providerLimits.redemptions, lookUps = providerLimits.lookUps } = limits
  const { polls = providerLimits.polls } = limits
  const maxWaitMs = waitingWindows * windowMs
  const queueLimits = { maxWaiting: waitingWindows * redemptions, maxWaitingPerQueue: redemptions, maxWaitMs }
  const createProviderGate = (maxPerWindow: number) =>
    createGate({ maxPerWindow, windowMs, ...queueLimits, clock: monotonicClock })
  const gates = {
    redeem: createProviderGate(redemptions),
    find: createProviderGate(lookUps),
    review: createProviderGate(polls),
  }

  async function sendThrough<T extends { readonly kind: string }>(
    gate: ReturnType<typeof createGate>,
    queueName: string | undefined,
    send: () => Promise<T>,
  ): Promise<T | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }> {
    const admission = await gate.enter(queueName)
    if (admission.kind === 'shed') return { kind: 'throttled', retryAfterMs: admission.retryAfterMs }
    const outcome = await send()
    // The provider counts all requests together: a 429 for one kind pauses all kinds.
    if (outcome.kind === 'throttled') for (const each of Object.values(gates)) each.pause(computePauseMs(outcome))
    return outcome
  }

  return {
    ...provider,
    redeem: (request) =>
      sendThrough<RedeemResult>(gates.redeem, request.integrationAddress, async () =>
        // The deadline of the redemption may have passed in the queue.
        clock.now() > request.sendBy ? { kind: 'unsent' } : provider.redeem(request),
      ),
    find: (externalUserId, integrationAddress) =>
      sendThrough(gates.find, integrationAddress, () => provider.find(externalUserId, integrationAddress)),
    review: (applicantId) => sendThrough(gates.review, undefined, () => provider.review(applicantId)),
    close() {
      for (const each of Object.values(gates)) each.close()
    },
  }
}

function computePauseMs(outcome: { readonly kind: string; readonly retryAfterMs?: number | null }): number {
  // A 429 without Retry-After, or with a wait of 0, causes the usual pause.
  return Math.min(outcome.retryAfterMs || pauseMs, maxPauseMs)
}
