/** Learns the limits of requests to a node, and the node's trustworthiness. @module */
import { parseRetryAfter } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'
import type { RequestEnd, RpcCall, RpcOutcome } from './json-rpc.js'

// Learns the size of requests from successes and failures, never from error texts. The size grows by a step after each
// success. After a failure, the smallest request shows whether the size is the cause; if so, the failed size is tried
// once more and then halved until it works. The smallest failed size becomes a ceiling, which is approached by halves
// and tested again ever more rarely.

/** In blocks (or in calls of a batch). */
export interface RangeSizeOptions {
  readonly start: number
  readonly max: number
  /** The growth per success while no ceiling is known. @default a quarter of `start` */
  readonly step?: number | undefined
}

/** Successes at a ceiling before it is tested again. `guessed`: the first test of a ceiling that a rate limit set. */
const retestAfterSuccesses = { first: 32, guessed: 4, max: 1_024 } as const
/** Default growth, as a part of the starting size. */
const stepFraction = 0.25

export function createRangeSize(options: RangeSizeOptions) {
  const { start, max, step = Math.max(1, Math.floor(start * stepFraction)) } = options
  let size = Math.min(start, max)
  /** The largest size that worked lately; 0 before the first success. */
  let largestWorking = 0
  /** `isLearned`: a failure set the ceiling. */
  let ceiling = { blocks: max, isLearned: false }
  /**
   * `back`: a step failed, and the size before it is tried. `probing`: the smallest request shows the cause of a
   * failure. `repeating`: the failed size is tried once more.
   */
  let phase: 'steady' | 'back' | 'probing' | 'repeating' | 'halving' = 'steady'
  let beforeFailure = { size, ceiling }
  let successesAtCeiling = 0
  let retestAfter: number = retestAfterSuccesses.first

  function stepBack(blocks: number): 'size' {
    // A ceiling that fails its test stays where it is.
    ceiling = { blocks: ceiling.isLearned ? Math.min(ceiling.blocks, blocks - 1) : blocks - 1, isLearned: true }
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
    ceiling = { blocks: Math.max(1, blocks - 1), isLearned: true }
    size = Math.max(1, Math.floor(blocks / 2))
    phase = 'halving'
    return 'size'
  }

  function restore(): 'not-size' {
    ;({ size, ceiling } = beforeFailure)
    phase = 'steady'
    return 'not-size'
  }

  function grow(): void {
    const headroom = ceiling.blocks - size
    if (headroom > 0) size += ceiling.isLearned ? Math.ceil(headroom / 2) : Math.min(step, headroom)
    else if (ceiling.isLearned && ++successesAtCeiling >= retestAfter) {
      successesAtCeiling = 0
      retestAfter = Math.min(retestAfter * 2, retestAfterSuccesses.max)
      size = Math.min(max, size + step)
    }
  }

  return {
    /** The most blocks that a request should span now. */
    current: () => (phase === 'probing' ? 1 : size),
    noteSuccess(blocks: number): void {
      if (blocks > ceiling.blocks) {
        ceiling = { blocks: max, isLearned: false }
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
    /** @returns The cause of the failure; `unsure` until a smaller request is tried. */
    noteFailure(blocks: number): 'size' | 'unsure' | 'not-size' {
      if (phase === 'probing') return blocks === 1 ? restore() : 'unsure'
      if (phase === 'steady') beforeFailure = { size, ceiling }
      if (phase === 'steady' && largestWorking > 0 && blocks > largestWorking) return stepBack(blocks)
      if (phase === 'steady' || (phase === 'back' && blocks <= size)) return blocks === 1 ? restore() : probe(blocks)
      // A larger request was already in flight when the size was reduced.
      if (blocks > size) return 'size'
      return blocks === 1 ? restore() : halve(blocks)
    },
    /** Notes a failure whose cause is known to be the size. */
    noteTooLarge(blocks: number): void {
      if (blocks === 1 || blocks > size) return
      if (!ceiling.isLearned) retestAfter = retestAfterSuccesses.guessed
      if (phase === 'steady' && largestWorking > 0 && blocks > largestWorking) stepBack(blocks)
      else halve(blocks)
    },
  }
}

// Learns the size of batches. A batch may take too long, be larger than the node accepts, or exceed its rate limit.
// Smaller block ranges do not help where one block takes many calls.

/** After this many rate limit rejections in a row, a size that was answered before is too large after all. */
const maxRejections = 4
/** The smallest batch, because a call is sent together with the chain id call. */
const callsInPair = 2

export function createBatchSize(maxCalls: number) {
  const size = createRangeSize({ start: maxCalls, max: maxCalls })
  let minCalls = Math.min(callsInPair, maxCalls)
  /** Rate limit rejections in a row, and the size of the last one. */
  let rejections = { count: 0, calls: 0 }
  /** The most calls of an answered request. */
  let maxAnsweredCalls = 0

  function noteFailedBatch(calls: number): void {
    const isSmallest = calls <= minCalls && size.current() === 1
    // The node rejects even two calls, so calls are sent one by one.
    if (isSmallest && calls === callsInPair) minCalls = 1
    size.noteFailure(isSmallest ? 1 : calls)
  }

  /** Some nodes reject a batch's size with a rate limit, so a size that was never answered is reduced at once. */
  function noteRejectedBatch(calls: number): void {
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
    /** The most calls of the next request. */
    current: () => Math.max(minCalls, size.current()),
    noteEnd(end: RequestEnd): void {
      if (end.kind === 'reconnects' || end.kind === 'repeats') return
      const calls = end.calls.length
      if (end.kind === 'limited') noteRejectedBatch(calls)
      else if (end.kind === 'answered' && !holdsRejection(end.calls, end.outcomes)) {
        maxAnsweredCalls = Math.max(maxAnsweredCalls, calls)
        if (calls >= rejections.calls) rejections.count = 0
        if (calls >= callsInPair) minCalls = Math.min(callsInPair, maxCalls)
        size.noteSuccess(calls)
      }
      // Failed requests for logs reduce the range instead.
      else if (!end.calls.some(({ method }) => method === 'eth_getLogs')) noteFailedBatch(calls)
    },
  }
}

/** Whether an answer has an error for a call that cannot fail by itself, so that the batch is the cause. */
function holdsRejection(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): boolean {
  return outcomes.some(({ ok }, index) => !ok && infallibleMethods.has(calls[index]?.method ?? ''))
}

const infallibleMethods: ReadonlySet<string> = new Set([
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
])

const maxRetryAfterMs = 30_000
/** How long a node gets no request after an answer that was made to exhaust its reader, in milliseconds. */
const hostileRestMs = 600_000
/** The pause without a `Retry-After`, in milliseconds. It doubles from the third rejection in a row on. */
const backoffMs = { first: 500, last: 4_000 } as const

export function createRateLimit(clock: Clock) {
  let pausedUntil = 0
  let previousPauseEnd = 0
  let rejections = 0
  let restsUntil = 0
  return {
    /**
     * Notes a rejected request.
     * @param retryAfter - The raw header, or null.
     * @param isBatchReduced - Whether the next batch is smaller; if so, this rejection does not lengthen later pauses.
     */
    noteRejection(retryAfter: string | null, isBatchReduced = false): void {
      const now = clock.now()
      // Requests in flight at the same time are rejected together and count once.
      if (now >= pausedUntil) {
        if (!isBatchReduced) rejections += 1
        previousPauseEnd = pausedUntil
      }
      const backoff = Math.min(backoffMs.first * 2 ** Math.max(0, rejections - 2), backoffMs.last)
      // A `Retry-After` of 0 counts as none.
      pausedUntil = Math.max(pausedUntil, now + Math.min(parseRetryAfter(retryAfter, now) || backoff, maxRetryAfterMs))
    },
    noteAnswer(sentAt: number): void {
      if (sentAt >= pausedUntil) rejections = 0
      // Sent after the previous pause, along with rejected requests: that pause was long enough.
      else if (sentAt >= previousPauseEnd) rejections = Math.min(rejections, 1)
    },
    /** Stops requests for 10 minutes after an answer that was made to exhaust its reader. */
    startRest(): void {
      restsUntil = clock.now() + hostileRestMs
    },
    /** Whether the node rests, which is too long to wait for. */
    isResting: () => clock.now() < restsUntil,
    /** The clock's time when the node may get requests again; in the past if it may now. */
    resumesAt: () => Math.max(pausedUntil, restsUntil),
  }
}

type HealthEvent =
  | 'answered'
  /** A request got no answer. */
  | 'lost'
  /** The answer could not be used. */
  | 'unusable'
  /** A reported block was missing a moment later, which happens with honest nodes too. */
  | 'gone'
  | 'contradiction'
  | 'proof-failed'

/** Below this score a node is benched: it gets no work while another one is better. */
const benchBelowScore = 0.75
/** From this score on, a benched node is probed, and returns. */
const returnFromScore = 0.9
/** A lag up to this, in milliseconds, costs no score. */
const allowedLagMs = 5_000

/** The share of the remaining trust that an event costs. */
const trustCosts = { lost: 0.3, unusable: 0.3, gone: 0.06, contradiction: 0.5, 'proof-failed': 0.7 } as const
/** The share of the doubt about availability that remains after an answer. */
const doubtAfterAnswer = 0.9
/** Half-lives of the doubts about availability and about correctness, in milliseconds. */
const availabilityHalfLifeMs = 30_000
const correctnessHalfLifeMs = 300_000

export function createHealth(clock: Clock) {
  let availabilityDoubt = 0
  let correctnessDoubt = 0
  let lagMs = 0
  let isBenched = false
  let lastDecayAt = clock.now()

  function decayDoubts(): void {
    const passed = Math.max(0, clock.now() - lastDecayAt)
    lastDecayAt = clock.now()
    availabilityDoubt *= 0.5 ** (passed / availabilityHalfLifeMs)
    correctnessDoubt *= 0.5 ** (passed / correctnessHalfLifeMs)
  }

  function trust(): number {
    decayDoubts()
    return (1 - availabilityDoubt) * (1 - correctnessDoubt)
  }

  function score(): number {
    return trust() * (lagMs <= allowedLagMs ? 1 : allowedLagMs / lagMs)
  }

  return {
    note(event: HealthEvent): void {
      decayDoubts()
      if (event === 'answered') availabilityDoubt *= doubtAfterAnswer
      else if (event === 'lost' || event === 'unusable')
        availabilityDoubt += trustCosts[event] * (1 - availabilityDoubt)
      else correctnessDoubt += trustCosts[event] * (1 - correctnessDoubt)
      isBenched ||= score() < benchBelowScore
    },
    /** Sets how old the node's head is, in milliseconds; 0 for the newest. */
    setLag(ms: number): void {
      lagMs = ms
      isBenched ||= score() < benchBelowScore
    },
    /** Ends the bench after an answered probe, if the score allows it. */
    noteProbeAnswered(): void {
      isBenched &&= score() < returnFromScore
    },
    /** From 0 to 1, now. */
    score,
    isBenched: () => isBenched,
    /** Whether a benched node may be probed; its lag does not matter. */
    mayBeProbed: () => trust() >= returnFromScore,
  }
}
