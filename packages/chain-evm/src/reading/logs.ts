/** Logs as `eth_getLogs` answers them: the node's word, which other things are held against. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import { readLogs } from '../internal/answers.js'
import { isRateLimit } from '../internal/endpoints.js'
import { describeRpcError, type Failures } from '../internal/failures.js'
import { quantity } from '../internal/hex.js'
import type { RpcCall, RpcOutcome } from '../internal/json-rpc.js'
import type { RangeReader } from '../range-reader.js'
import type { RouterLog } from '../router-decoder.js'

/** The call for the logs of listed routers in blocks `from` to `to`. */
export function logsCall({ routers, decoder }: RangeReader, from: number, to: number): RpcCall {
  const topics = [...decoder.paymentTopics, ...decoder.conversionTopics]
  return {
    method: 'eth_getLogs',
    params: [{ fromBlock: quantity(from), toBlock: quantity(to), address: [...routers.keys()], topics: [topics] }],
  }
}

/**
 * Our logs in an answer, by block, transaction and log index. On some chains log indexes count per transaction.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when the logs contradict the headers or each other about a height's block;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export function logsIn(
  { routers, decoder, fail }: RangeReader,
  first: BlockRef,
  last: BlockRef,
  outcome: RpcOutcome | undefined,
): RouterLog[] {
  if (!outcome?.ok)
    throw fail.unavailable(`eth_getLogs ${first.number} to ${last.number}: ${describeRpcError(outcome)}.`)
  const topics = [...decoder.paymentTopics, ...decoder.conversionTopics]
  const logs = readLogs(outcome.result, fail)
    .filter((log) => routers.has(log.address) && topics.includes(log.topics[0] ?? ''))
    .sort(byPlace)
  assertOneBranch(logs, first, last, fail)
  return logs
}

function byPlace(a: RouterLog, b: RouterLog): number {
  return a.blockNumber - b.blockNumber || (a.txIndex ?? 0) - (b.txIndex ?? 0) || a.logIndex - b.logIndex
}

/** Logs of one answer must agree with the headers and with each other on what block is at a height. */
function assertOneBranch(logs: readonly RouterLog[], first: BlockRef, last: BlockRef, fail: Failures): void {
  const hashes = new Map([
    [first.number, first.hash],
    [last.number, last.hash],
  ])
  const places = new Set<string>()
  for (const log of logs) {
    if (log.blockNumber < first.number || log.blockNumber > last.number)
      throw fail.gone(`a log of block ${log.blockNumber} was answered for blocks ${first.number} to ${last.number}.`)
    const hash = hashes.get(log.blockNumber)
    if (hash === undefined) hashes.set(log.blockNumber, log.blockHash)
    else if (hash !== log.blockHash) throw fail.gone(`two blocks were answered for height ${log.blockNumber}.`)
    const place = `${log.blockNumber}:${log.txHash}:${log.logIndex}`
    if (places.has(place)) throw fail.unavailable(`eth_getLogs answered log ${log.logIndex} of ${log.txHash} twice.`)
    places.add(place)
  }
}

/**
 * Runs `ask` over as many blocks from `from` on as the endpoint can answer, and reports the result to it.
 * After a failure that makes the endpoint want fewer blocks, it runs `ask` again at once.
 * @param ask - Reads blocks `from` to the height it is given.
 */
export async function withRangeSize<T>(
  { endpoint }: RangeReader,
  from: number,
  to: number,
  ask: (upTo: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    const blocks = Math.min(to - from + 1, endpoint.maxRange())
    try {
      const answer = await ask(from + blocks - 1)
      endpoint.note({ kind: 'range-read', blocks })
      return answer
    } catch (error) {
      if (!isUnavailable(error)) throw error
      endpoint.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
      if (isRateLimit(error) || endpoint.maxRange() >= blocks) throw error
    }
  }
}

/** Whether a read failed because the node did not answer, or answered nonsense. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_CHAIN_UNAVAILABLE'
}
