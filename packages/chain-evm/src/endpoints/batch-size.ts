/**
 * How many calls one request to an endpoint holds. A batch may be too much for a node though each of its calls is not: it takes too long, is
 * larger than the node accepts, or costs more than it grants at once. Ranges that shrink do not help where one block takes many calls.
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

/** Refusals for the rate, in a row, that are laid to the size: a pause would have helped otherwise. */
const mostRefusals = 3

/** Begins with the most calls, and never asks for more. */
export function createBatchSize(most: number): BatchSize {
  const size = createRangeSize({ start: most, max: most })
  let refusals = 0
  return {
    current: size.current,
    ended(end) {
      if (end.kind === 'reconnects') return
      const { length } = end.calls
      if (end.kind === 'limited') {
        refusals += 1
        if (refusals < mostRefusals) return
      }
      refusals = 0
      if (end.kind === 'answered' && !isRefused(end.calls, end.outcomes)) size.worked(length)
      else size.failed(length)
    },
  }
}

/** Whether a batch was answered with an error for a call that fails for no reason of its own. */
function isRefused(calls: readonly RpcCall[], outcomes: readonly RpcOutcome[]): boolean {
  return calls.length > 1 && outcomes.some(({ ok }, index) => !ok && plain.has(calls[index]?.method ?? ''))
}

const plain: ReadonlySet<string> = new Set([
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
])
