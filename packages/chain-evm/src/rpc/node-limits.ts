/** Learns what a node can do: blocks and calls of a request, its rate, and how far it is trusted. @module */

import { parseRetryAfter } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'
import type { RequestEnd, RpcCall, RpcOutcome } from './json-rpc.js'

// Learns how many blocks one request may ask for, from requests that work, never from error texts.
//
// Sizes grow by a step after each success. After a failure the smallest request is tried: if that fails too, the size
// is not the cause and stays. Otherwise the size is tried once more, and halved until it works. The smallest failed
// size becomes a ceiling, which is approached by halves and tried again more rarely each time it holds.

/** Bounds of the sizes, in blocks. */
export interface RangeSizeOptions {
  /** Where to begin. */
  readonly start: number
  /** Never more than this. */
  readonly max: number
  /** What a size grows by while no ceiling is known. @default a quarter of `start` */
  readonly step?: number | undefined
}

/** The sizes of one kind of request. */
interface RangeSize {
  /** Most blocks that a request should span now. */
  current(): number
  /** A request over `blocks` worked. */
  noteSuccess(blocks: number): void
  /** A request over `blocks` failed. Says what that is laid to; `unsure` until a smaller one is tried. */
  noteFailure(blocks: number): 'size' | 'unsure' | 'not-size'
  /** A request over `blocks` failed, and a smaller one is known to be the cure: none is tried to find that out. */
  noteTooLarge(blocks: number): void
}

/**
 * Successes at a ceiling before it is tried again: at first, at first where a rate limit set it, and at most.
 */
const retestAfterSuccesses = { first: 32, guessed: 4, max: 1_024 } as const
/** Part of the starting size that a size grows by, unless told otherwise. */
const stepFraction = 0.25

/** Starts without having learnt anything. */
export function createRangeSize(options: RangeSizeOptions): RangeSize {
  const { start, max, step = Math.max(1, Math.floor(start * stepFraction)) } = options
  let size = Math.min(start, max)
  /** Largest that worked lately; 0: none yet. */
  let largestWorking = 0
  /** The ceiling, and whether a failure set it. */
  let ceiling = { blocks: max, learnt: false }
  /**
   * `back`: after a failed step, the size before it must work. `probing`: the smallest request shows the cause of a
   * failure. `repeating`: the failed size is tried once more.
   */
  let phase: 'steady' | 'back' | 'probing' | 'repeating' | 'halving' = 'steady'
  let before = { size, ceiling }
  let successesAtCeiling = 0
  let retestAfter: number = retestAfterSuccesses.first

  function stepBack(blocks: number): 'size' {
    // A ceiling that was tried again has held.
    ceiling = { blocks: ceiling.learnt ? Math.min(ceiling.blocks, blocks - 1) : blocks - 1, learnt: true }
    size = largestWorking
    phase = 'back'
    return 'size'
  }

  function probe(blocks: number): 'unsure' {
    size = Math.min(size, blocks)
    phase = 'probing'
    return 'unsure'
  }

  function halve(blocks: number): 'size' {
    ceiling = { blocks: Math.max(1, blocks - 1), learnt: true }
    size = Math.max(1, Math.floor(blocks / 2))
    phase = 'halving'
    return 'size'
  }

  function notSize(): 'not-size' {
    ;({ size, ceiling } = before)
    phase = 'steady'
    return 'not-size'
  }

  function grow(): void {
    const left = ceiling.blocks - size
    if (left > 0) size += ceiling.learnt ? Math.ceil(left / 2) : Math.min(step, left)
    else if (ceiling.learnt && ++successesAtCeiling >= retestAfter) {
      successesAtCeiling = 0
      retestAfter = Math.min(retestAfter * 2, retestAfterSuccesses.max)
      size = Math.min(max, size + step)
    }
  }

  return {
    current: () => (phase === 'probing' ? 1 : size),
    noteSuccess(blocks) {
      if (blocks > ceiling.blocks) {
        ceiling = { blocks: max, learnt: false }
        retestAfter = retestAfterSuccesses.first
      }
      if (phase === 'probing') phase = 'repeating'
      else if (phase === 'halving') {
        if (blocks * 2 <= size) return
        phase = 'steady'
        largestWorking = blocks
      } else if (phase !== 'steady') {
        if (blocks < size) return
        phase = 'steady'
      }
      largestWorking = Math.max(largestWorking, blocks)
      if (phase === 'steady' && blocks >= size) grow()
    },
    noteFailure(blocks) {
      if (phase === 'probing') return blocks === 1 ? notSize() : 'unsure'
      if (phase === 'steady') before = { size, ceiling }
      if (phase === 'steady' && largestWorking > 0 && blocks > largestWorking) return stepBack(blocks)
      if (phase === 'steady' || (phase === 'back' && blocks <= size)) return blocks === 1 ? notSize() : probe(blocks)
      // Larger requests were in flight when the size fell; they say nothing new.
      if (blocks > size) return 'size'
      return blocks === 1 ? notSize() : halve(blocks)
    },
    noteTooLarge(blocks) {
      if (blocks === 1 || blocks > size) return
      if (!ceiling.learnt) retestAfter = retestAfterSuccesses.guessed
      if (phase === 'steady' && largestWorking > 0 && blocks > largestWorking) stepBack(blocks)
      else halve(blocks)
    },
  }
}

// Learns how many calls one request to a node may hold. A batch may take too long, be larger than the node
// accepts, or cost more than it allows at once. Smaller ranges do not help where one block takes many calls.

/** The sizes for one node. */
interface BatchSize {
  /** Most calls of the next request. */
  current(): number
  /** A request ended. */
  noteEnd(end: RequestEnd): void
}

/** Rejections for the rate, in a row, that are laid to a size that was answered before: a pause would have helped. */
const maxRejections = 4
/** A call shares its request with the chain id call, so a node that accepts two gets no fewer. */
const callsInPair = 2

/** Begins with the most calls, and never asks for more. */
export function createBatchSize(maxCalls: number): BatchSize {
  const size = createRangeSize({ start: maxCalls, max: maxCalls })
  let minCalls = Math.min(callsInPair, maxCalls)
  /** Rejections for the rate, in a row. */
  let rejections = { count: 0, calls: 0 }
  /** The most calls of one request that was answered: a rejection of no more is a matter of the rate. */
  let maxAnsweredCalls = 0

  function failed(calls: number): void {
    const isSmallest = calls <= minCalls && size.current() === 1
    // The node rejects two calls as well: from here on calls go one by one.
    if (isSmallest && calls === callsInPair) minCalls = 1
    size.noteFailure(isSmallest ? 1 : calls)
  }

  /** Some nodes reject a size as they reject a rate. So a size that was never answered falls at once. */
  function rejected(calls: number): void {
    if (calls <= maxAnsweredCalls) {
      rejections = { count: rejections.count + 1, calls }
      if (rejections.count < maxRejections) return
      maxAnsweredCalls = calls - 1
    }
    rejections.count = 0
    if (calls === callsInPair) minCalls = 1
    size.noteTooLarge(calls)
  }

  return {
    current: () => Math.max(minCalls, size.current()),
    noteEnd(end) {
      if (end.kind === 'reconnects' || end.kind === 'repeats') return
      const calls = end.calls.length
      if (end.kind === 'limited') rejected(calls)
      else if (end.kind === 'answered' && !holdsRejection(end.calls, end.outcomes)) {
        maxAnsweredCalls = Math.max(maxAnsweredCalls, calls)
        if (calls >= rejections.calls) rejections.count = 0
        if (calls >= callsInPair) minCalls = Math.min(callsInPair, maxCalls)
        size.noteSuccess(calls)
      }
      // How many blocks are asked for logs at once is learnt elsewhere.
      else if (!end.calls.some(({ method }) => method === 'eth_getLogs')) failed(calls)
    },
  }
}

/** Whether an answer holds an error for a call that fails for no reason of its own. */
function holdsRejection(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): boolean {
  return outcomes.some(({ ok }, index) => !ok && infallibleMethods.has(calls[index]?.method ?? ''))
}

const infallibleMethods: ReadonlySet<string> = new Set([
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
])

/** A longer `Retry-After` is cut to this, in milliseconds. */
const maxRetryAfterMs = 30_000
/** How long a node gets no request after an answer that was made to exhaust its reader, in milliseconds. */
const hostileRestMs = 600_000
/** The wait without a `Retry-After`, in milliseconds. It doubles from the third rejection in a row on. */
const backoffMs = { first: 500, last: 4_000 } as const

/** The waits that one node asks for. */
interface RateLimit {
  /**
   * It rejected a request now.
   * @param formatRetryAfter - The header as it came, or null.
   * @param isFirstOfSize - A smaller request comes next, so that longer waits are not called for yet.
   */
  noteRejection(retryAfter: string | null, isFirstOfSize?: boolean): void
  /** It answered a request that was sent at `sentAt`. */
  noteAnswer(sentAt: number): void
  /** It sent an answer that was made to exhaust its reader. */
  startRest(): void
  /** Whether it rests. That is too long to wait for. */
  isResting(): boolean
  /** When it may be asked again, by the clock; in the past when it may be asked now. */
  resumesAt(): number
}

/** Starts without a wait. */
export function createRateLimit(clock: Clock): RateLimit {
  let pausedUntil = 0
  /** When the pause before the newest one ended. */
  let previousPauseEnd = 0
  let rejections = 0
  let restsUntil = 0
  return {
    noteRejection(retryAfter, isFirstOfSize = false) {
      const now = clock.now()
      // Requests in flight together are rejected together, and count once.
      if (now >= pausedUntil) {
        if (!isFirstOfSize) rejections += 1
        previousPauseEnd = pausedUntil
      }
      const backoff = Math.min(backoffMs.first * 2 ** Math.max(0, rejections - 2), backoffMs.last)
      // A node that rejects and names no wait, or none at all, gets the usual one.
      pausedUntil = Math.max(pausedUntil, now + Math.min(parseRetryAfter(retryAfter, now) || backoff, maxRetryAfterMs))
    },
    noteAnswer(sentAt) {
      if (sentAt >= pausedUntil) rejections = 0
      // Of requests sent together some were rejected: the pause before them was long enough.
      else if (sentAt >= previousPauseEnd) rejections = Math.min(rejections, 1)
    },
    startRest() {
      restsUntil = clock.now() + hostileRestMs
    },
    isResting: () => clock.now() < restsUntil,
    resumesAt: () => Math.max(pausedUntil, restsUntil),
  }
}

/** An event at a node. */
export type HealthEvent =
  /** A request was answered. */
  | 'answered'
  /** A request brought no answer. */
  | 'lost'
  /** It answered, but nothing that could be used. */
  | 'unusable'
  /** A block that it reported was missing a moment later, which happens to honest nodes too. */
  | 'gone'
  | 'contradiction'
  | 'proof-failed'

/** A node with a lower score gets no work while another one is better. */
export const benchBelowScore = 0.75
/** A score from which a node may be probed for work again. */
export const returnFromScore = 0.9
/** Behind by no more than this, a node counts as up to date, in milliseconds. */
const allowedLagMs = 5_000

/** Share of the remaining trust that an event costs. */
const trustCosts = { lost: 0.3, unusable: 0.3, gone: 0.06, contradiction: 0.5, 'proof-failed': 0.7 } as const
/** An answer leaves this much of the doubt whether the node answers. */
const doubtAfterAnswer = 0.9
/** Half of the doubt whether a node answers is gone after this time, in milliseconds. */
const answerHalfLifeMs = 30_000
/** Half-life of the doubt about its truth, in milliseconds. */
const truthHalfLifeMs = 300_000

/** The standing of one node. */
interface Health {
  note(event: HealthEvent): void
  /** Its head is known to be this old, in milliseconds; 0: it is the newest. */
  setLag(ms: number): void
  /** From 0 to 1, now. */
  score(): number
  /** The score that it would have without its lag. */
  trust(): number
}

/** Starts with full trust. */
export function createHealth(clock: Clock): Health {
  let doubtOfAnswers = 0
  let doubtOfTruth = 0
  let lagMs = 0
  let at = clock.now()

  function settle(): void {
    const passed = Math.max(0, clock.now() - at)
    at = clock.now()
    doubtOfAnswers *= 0.5 ** (passed / answerHalfLifeMs)
    doubtOfTruth *= 0.5 ** (passed / truthHalfLifeMs)
  }

  function trust(): number {
    settle()
    return (1 - doubtOfAnswers) * (1 - doubtOfTruth)
  }

  return {
    note(event) {
      settle()
      if (event === 'answered') doubtOfAnswers *= doubtAfterAnswer
      else if (event === 'lost' || event === 'unusable') doubtOfAnswers += trustCosts[event] * (1 - doubtOfAnswers)
      else doubtOfTruth += trustCosts[event] * (1 - doubtOfTruth)
    },
    setLag(ms) {
      lagMs = ms
    },
    score: () => trust() * (lagMs <= allowedLagMs ? 1 : allowedLagMs / lagMs),
    trust,
  }
}
