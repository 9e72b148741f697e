/** Reads logs by `eth_getLogs`, which proves nothing, and finds the blocks that may hold a payment. @module */
import type { BlockRef } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import { readLogs } from '../rpc/answers.js'
import { askOwnChain } from '../rpc/chain-guard.js'
import { describeRpcError, type Failures } from '../rpc/failures.js'
import { quantity } from '../rpc/hex.js'
import type { RpcCall, RpcOutcome } from '../rpc/json-rpc.js'
import { isRateLimit } from '../rpc/nodes.js'
import type { Header } from './headers.js'
import type { RangeReader } from './range-reader.js'

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
 * Runs `ask` over as many blocks from `from` on as the node can answer, and reports the result to it.
 * After a failure that makes the node want fewer blocks, it runs `ask` again at once.
 * @param ask - Reads blocks `from` to the height it is given.
 */
export async function withRangeSize<T>(
  { node }: RangeReader,
  from: number,
  to: number,
  ask: (upTo: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    const blocks = Math.min(to - from + 1, node.maxRange())
    try {
      const answer = await ask(from + blocks - 1)
      node.note({ kind: 'range-read', blocks })
      return answer
    } catch (error) {
      if (!isUnavailable(error)) throw error
      node.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
      if (isRateLimit(error) || node.maxRange() >= blocks) throw error
    }
  }
}

/** Whether a read failed because the node did not answer, or answered nonsense. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_CHAIN_UNAVAILABLE'
}

/** Headers from the first on, and those of them whose blocks may hold a payment. */
interface Candidates {
  readonly headers: readonly Header[]
  readonly candidates: readonly Header[]
}

/**
 * Tests the log filter of each header. A filter is trusted where headers hash to their blocks' hashes. Where none does,
 * the node's logs are compared with the filters, to notice a chain whose filters are always empty.
 * @param mostTransactions - Limit of transactions in candidates. The headers end before it, but after a first
 * candidate.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` when a filter denies logs that the node has.
 */
export async function readCandidates(
  reader: RangeReader,
  all: readonly Header[],
  mostTransactions: number,
  signal?: AbortSignal,
): Promise<Candidates> {
  const { headers: kind } = reader
  const candidates: Header[] = []
  let transactions = 0
  let end = all.length
  for (const [index, header] of all.entries()) {
    if (!mayPay(reader, header)) continue
    transactions += header.transactions?.length ?? 1
    if (candidates.length > 0 && transactions > mostTransactions) {
      end = index
      break
    }
    candidates.push(header)
  }
  const headers = end === all.length ? all : all.slice(0, end)
  if (!kind.isKnown) await assertAdmitted(reader, headers, candidates, signal)
  return { headers, candidates }
}

/** Whether a block may hold a payment, by its header's log filter. */
export function mayPay({ filter }: RangeReader, { logsBloom, transactions }: Header): boolean {
  if (logsBloom === null) return transactions === null || transactions.length > 0
  return filter(logsBloom) !== 'no'
}

async function assertAdmitted(
  reader: RangeReader,
  headers: readonly Header[],
  candidates: readonly Header[],
  signal?: AbortSignal,
): Promise<void> {
  const { node, fail, wanted, decoder } = reader
  const admitted = new Set(candidates.map(({ ref }) => ref.number))
  for (let start = 0; start < headers.length; ) {
    const first = headers[start]?.ref
    if (first === undefined) break
    const end = headers.at(-1)?.ref.number ?? first.number
    const { logs, upTo } = await withRangeSize(reader, first.number, end, async (height) => {
      const last = headers[height - first.number + start]?.ref ?? first
      const [outcome] = await askOwnChain(reader, [logsCall(reader, first.number, height)], signal)
      return { logs: logsIn(reader, first, last, outcome), upTo: height }
    })
    for (const { blockNumber, address, topics } of logs) {
      if (admitted.has(blockNumber) || wanted?.has(address) === false) continue
      if (!decoder.paymentTopics.includes(topics[0] ?? '')) continue
      const what = `the log filter of block ${blockNumber} denies a payment that eth_getLogs has`
      node.note({ kind: 'proof-failed', what })
      throw fail.unproven(`${what}. On a chain whose filters are empty by nature, set its proof to none.`)
    }
    start += upTo - first.number + 1
  }
}
