/** When the blocks of logs were made. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import { readHeader } from './internal/answers.js'
import type { Failures } from './internal/failures.js'
import { quantity } from './internal/hex.js'
import type { Rpc } from './internal/json-rpc.js'
import type { RouterLog } from './router-decoder.js'

/**
 * Finds the time of each log's block. Takes it from a known header; else from the log, if it lies between the known
 * headers' times; else reads one header per block.
 * @param ends - The first and last header of the range.
 * @returns The time of a log's block, Unix milliseconds.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block is missing or another; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readBlockTimes(
  rpc: Rpc,
  fail: Failures,
  logs: readonly RouterLog[],
  ends: readonly [BlockRef, BlockRef],
  signal?: AbortSignal,
): Promise<(log: RouterLog) => number> {
  const [first, last] = ends
  const times = new Map<number, number>(ends.map(({ number, timestamp }) => [number, timestamp]))
  const missing = new Map<number, string>()
  for (const { blockNumber, blockHash, blockTimestamp } of logs) {
    if (times.has(blockNumber)) continue
    if (blockTimestamp !== null && blockTimestamp >= first.timestamp && blockTimestamp <= last.timestamp)
      times.set(blockNumber, blockTimestamp)
    else missing.set(blockNumber, blockHash)
  }
  const asked = [...missing]
  const calls = asked.map(([height]) => ({ method: 'eth_getBlockByNumber', params: [quantity(height), false] }))
  const answers = await rpc.all(calls, signal)
  for (const [index, [height, hash]] of asked.entries()) {
    const header = readHeader(answers[index], fail)
    if (header === null || header.hash !== hash) throw fail.gone(`block ${height} is not the one its logs came from.`)
    times.set(height, header.timestamp)
  }
  return (log) => {
    const time = times.get(log.blockNumber)
    if (time === undefined) throw fail.unavailable(`the time of block ${log.blockNumber} is not known.`)
    return time
  }
}
