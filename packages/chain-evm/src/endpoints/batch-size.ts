/**
 * Learns how many calls one request to an endpoint may hold. A batch may take too long, be larger than the node
 * accepts, or cost more than it allows at once. Smaller ranges do not help where one block takes many calls.
 * @module
 */
import type { RequestEnd, RpcCall, RpcOutcome } from '../internal/json-rpc.js'
import { createRangeSize } from '../internal/range-size.js'

/** The sizes for one endpoint. */
export interface BatchSize {
  /** Most calls of the next request. */
  current(): number
  /** A request ended. */
  ended(end: RequestEnd): void
}

/** Refusals for the rate, in a row, that are laid to a size that was answered before: a pause would have helped. */
const mostRefusals = 4
/** A call shares its request with the chain id call, so a node that accepts two gets no fewer. */
const pair = 2

/** Begins with the most calls, and never asks for more. */
export function createBatchSize(most: number): BatchSize {
  const size = createRangeSize({ start: most, max: most })
  let least = Math.min(pair, most)
  /** Refusals for the rate, in a row. */
  let refusals = { count: 0, calls: 0 }
  /** The most calls of one request that was answered: a refusal of no more is a matter of the rate. */
  let answered = 0

  function failed(calls: number): void {
    const isSmallest = calls <= least && size.current() === 1
    // Nor is the pair taken: what is left is one by one.
    if (isSmallest && calls === pair) least = 1
    size.failed(isSmallest ? 1 : calls)
  }

  /** Some nodes refuse a size as they refuse a rate. So a size that was never answered falls at once. */
  function refused(calls: number): void {
    if (calls <= answered) {
      refusals = { count: refusals.count + 1, calls }
      if (refusals.count < mostRefusals) return
      answered = calls - 1
    }
    refusals.count = 0
    if (calls === pair) least = 1
    size.tooLarge(calls)
  }

  return {
    current: () => Math.max(least, size.current()),
    ended(end) {
      if (end.kind === 'reconnects' || end.kind === 'repeats') return
      const calls = end.calls.length
      if (end.kind === 'limited') refused(calls)
      else if (end.kind === 'answered' && !isRefused(end.calls, end.outcomes)) {
        answered = Math.max(answered, calls)
        if (calls >= refusals.calls) refusals.count = 0
        if (calls >= pair) least = Math.min(pair, most)
        size.worked(calls)
      }
      // How many blocks are asked for logs at once is learnt elsewhere.
      else if (!end.calls.some(({ method }) => method === 'eth_getLogs')) failed(calls)
    },
  }
}

/** Whether an answer holds an error for a call that fails for no reason of its own. */
function isRefused(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): boolean {
  return outcomes.some(({ ok }, index) => !ok && plain.has(calls[index]?.method ?? ''))
}

const plain: ReadonlySet<string> = new Set([
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
])
