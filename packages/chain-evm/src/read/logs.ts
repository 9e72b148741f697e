/** Reads logs by `eth_getLogs`, and ranges with proof level `none`. Source: docs/decisions/completeness.md. @module */
import type { BlockRange, BlockRef } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import { parseHeader, parseLogs, parseReceipt } from '../rpc/answers.js'
import { askWithChainId } from '../rpc/chain-guard.js'
import { type Failures, isRateLimit, isUnavailable } from '../rpc/failures.js'
import { formatQuantity } from '../rpc/hex.js'
import { buildHeaderCall, getResult, type RpcCall, type RpcOutcome } from '../rpc/json-rpc.js'
import { readByTransaction } from './block-receipts.js'
import { readDerivedPayments } from './derive-payments.js'
import { readPaymentFacts } from './proven-blocks.js'
import type { Header, RangeReader } from './range-reader.js'
import {
  assertChain,
  countTransactions,
  isPaymentLog,
  isRelevantLog,
  readBlockTimes,
  toHeader,
} from './range-reader.js'

function buildLogsCall({ routers, decoder }: RangeReader, from: number, to: number): RpcCall {
  const range = { fromBlock: formatQuantity(from), toBlock: formatQuantity(to) }
  const topics = [[...decoder.paymentTopics, ...decoder.conversionTopics]]
  return { method: 'eth_getLogs', params: [{ ...range, address: [...routers.keys()], topics }] }
}

/**
 * Parses the logs of listed routers, in block, transaction and log order. On some chains log indexes count per
 * transaction.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a log is outside the range, or a height has logs of two blocks.
 */
function parseRangeLogs(reader: RangeReader, first: BlockRef, last: BlockRef, outcome: RpcOutcome | undefined) {
  const { fail } = reader
  const logs = parseLogs(getResult(fail, `eth_getLogs ${first.number} to ${last.number}`, outcome), fail)
    .filter((log) => isRelevantLog(reader, log))
    .sort((a, b) => a.blockNumber - b.blockNumber || (a.txIndex ?? 0) - (b.txIndex ?? 0) || a.logIndex - b.logIndex)
  assertConsistent(logs, first, last, fail)
  return logs
}

function assertConsistent(logs: readonly RouterLog[], first: BlockRef, last: BlockRef, fail: Failures): void {
  const hashes = new Map<number, string>([first, last].map(({ number, hash }) => [number, hash]))
  const positions = new Set<string>()
  for (const log of logs) {
    if (log.blockNumber < first.number || log.blockNumber > last.number)
      throw fail.noBlock(`a log of block ${log.blockNumber} was answered for blocks ${first.number} to ${last.number}.`)
    const hash = hashes.get(log.blockNumber)
    if (hash === undefined) hashes.set(log.blockNumber, log.blockHash)
    else if (hash !== log.blockHash) throw fail.noBlock(`two blocks were answered for height ${log.blockNumber}.`)
    const position = `${log.blockNumber}:${log.txHash}:${log.logIndex}`
    if (positions.has(position))
      throw fail.unavailable(`eth_getLogs answered log ${log.logIndex} of ${log.txHash} twice.`)
    positions.add(position)
  }
}

/**
 * Reads as many blocks from `from` on as the node's range size allows, and reports to the node whether it worked.
 * If a failure reduced the size, repeats at once with fewer blocks.
 * @param ask - Reads blocks `from` to the given height.
 */
async function withRangeSize<T>({ node }: RangeReader, from: number, to: number, ask: (upTo: number) => Promise<T>) {
  for (;;) {
    const blocks = Math.min(to - from + 1, node.maxRange())
    try {
      const answer = await ask(from + blocks - 1)
      node.note({ kind: 'range-read', blocks })
      return answer
    } catch (error) {
      if (!isUnavailable(error) || isRateLimit(error)) throw error
      node.note({ kind: 'range-failed', blocks })
      if (node.maxRange() >= blocks) throw error
    }
  }
}

/**
 * Finds the blocks whose log filter admits a payment. Where headers do not hash to their block hashes, `eth_getLogs` is
 * compared with the filters, to detect a chain whose filters are always empty.
 * @param maxTransactions - The most transactions of all candidates together. A first candidate may have more.
 * @returns The headers up to that limit, and those among them whose blocks may contain a payment.
 * @throws ChainError `ERR_CHAIN_PROOF_FAILED` when a filter denies a log that the node has.
 */
export async function readCandidates(reader: RangeReader, all: readonly Header[], maxTransactions: number) {
  const candidates: Header[] = []
  let transactions = 0
  let end = all.length
  for (const [index, header] of all.entries()) {
    if (!mayHoldPayment(reader, header)) continue
    transactions += countTransactions(header)
    if (candidates.length > 0 && transactions > maxTransactions) {
      end = index
      break
    }
    candidates.push(header)
  }
  const headers = end === all.length ? all : all.slice(0, end)
  if (!reader.headerHashing.isExpected) await assertFiltersAdmitLogs(reader, headers, candidates)
  return { headers, candidates }
}

/** Whether a block may contain a payment. */
export function mayHoldPayment({ filter }: RangeReader, { logsBloom, transactions }: Header): boolean {
  if (logsBloom === null) return transactions === null || transactions.length > 0
  return filter(logsBloom) !== 'no'
}

async function assertFiltersAdmitLogs(reader: RangeReader, headers: readonly Header[], candidates: readonly Header[]) {
  const { node, fail, requestedRouters } = reader
  const admitted = new Set(candidates.map(({ ref }) => ref.number))
  for (let start = 0; start < headers.length; ) {
    const first = headers[start]?.ref
    if (first === undefined) break
    const end = headers.at(-1)?.ref.number ?? first.number
    const { logs, upTo } = await withRangeSize(reader, first.number, end, async (height) => {
      const last = headers[height - first.number + start]?.ref ?? first
      const [outcome] = await askWithChainId(reader, [buildLogsCall(reader, first.number, height)])
      return { logs: parseRangeLogs(reader, first, last, outcome), upTo: height }
    })
    for (const log of logs) {
      const { blockNumber, address } = log
      if (admitted.has(blockNumber) || !requestedRouters.has(address) || !isPaymentLog(reader, log)) continue
      const what = `the log filter of block ${blockNumber} denies a payment that eth_getLogs has`
      node.note({ kind: 'proof-failed', what })
      throw fail.unproven(`${what}. On a chain with empty filters, set its proof to none.`)
    }
    start += upTo - first.number + 1
  }
}

/**
 * Checks the first and the last block of a range against their log filters, if they have no payment logs. If a filter
 * reports logs, the receipts decide. If it is too full, `eth_getLogs` by block hash decides, which needs no index.
 * @param logs - The payment logs of the range.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when logs are missing, or the node does not answer the check;
 * `ERR_CHAIN_RANGE_GONE` when the block is gone.
 */
async function checkEmptyEnds(reader: RangeReader, ends: readonly Header[], logs: readonly RouterLog[]): Promise<void> {
  for (const end of ends) {
    const { ref, logsBloom } = end
    if (logsBloom === null || logs.some(({ blockNumber }) => blockNumber === ref.number)) continue
    const filterAnswer = reader.filter(logsBloom)
    if (filterAnswer !== 'no' && (await hasLogs(reader, end, filterAnswer === 'likely')))
      throw reader.fail.unavailable(
        `eth_getLogs left out the logs of block ${ref.number}; the range is read again. If this repeats, the node's index is broken.`,
      )
  }
}

async function hasLogs(reader: RangeReader, end: Header, isLikely: boolean): Promise<boolean> {
  const { fail, routers, decoder } = reader
  if (!isLikely) {
    const filter = { blockHash: end.ref.hash, address: [...routers.keys()], topics: [decoder.paymentTopics] }
    const [outcome] = await askWithChainId(reader, [{ method: 'eth_getLogs', params: [filter] }])
    // Some nodes do not support `blockHash` here; then the receipts decide.
    if (outcome?.ok) return parseLogs(outcome.result, fail).some((log) => isPaymentLog(reader, log))
  }
  return hasLogsInReceipts(reader, end)
}

async function hasLogsInReceipts(reader: RangeReader, end: Header): Promise<boolean> {
  const { fail } = reader
  const { ref, transactions } = end
  const receipts = (await readByTransaction(reader, end)).map((answer) => parseReceipt(answer, fail))
  let hasPaymentLog = false
  for (const [index, receipt] of receipts.entries()) {
    if (receipt === null || receipt.blockHash !== ref.hash)
      throw fail.noBlock(`transaction ${transactions?.[index]} has no receipt in block ${ref.number}.`)
    if (receipt.hash !== transactions?.[index])
      throw fail.unavailable(`receipt ${receipt.hash} was answered instead of ${transactions?.[index]}.`)
    hasPaymentLog ||= receipt.logs.some((log) => isPaymentLog(reader, log))
  }
  return hasPaymentLog
}

/**
 * Reads the range without proof, for chains with non-standard filters or roots: whole, or as many blocks as the node's
 * range size allows. The last header is read again at the end, to detect a reorg in between.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block of the range is missing or changed.
 */
export async function readUnproven(reader: RangeReader): Promise<BlockRange> {
  const { from, to, fail, node, signal } = reader
  const { ends, first, last, logs } = await withRangeSize(reader, from, to, (upTo) => readRangeEnds(reader, from, upTo))
  const paymentLogs = logs.filter((log) => isPaymentLog(reader, log))
  await checkEmptyEnds(reader, ends, paymentLogs)
  const payments = await readDerivedPayments(reader, logs, { receipts: new Map(), blocks: new Map() })
  const derivedLogs = payments.map(({ log }) => log)
  const times = await readBlockTimes(reader, derivedLogs, first, last)
  const getBlockTime = ({ blockNumber }: RouterLog) => {
    const time = times.get(blockNumber)
    if (time === undefined) throw fail.unavailable(`the time of block ${blockNumber} is not known.`)
    return time
  }
  const facts = await readPaymentFacts(reader, payments, getBlockTime, last.number)
  const reread = parseHeader(await node.rpc.call(buildHeaderCall(last.number), signal), fail)
  if (reread?.hash !== last.hash) throw fail.noBlock(`block ${last.number} was replaced after the logs were read.`)
  return { first, last, blocks: ends.map(({ ref }) => ref), ...facts, proof: 'none', node: node.name }
}

/** Reads the logs of a range, and its first and last header; `ends` has one header for a range of one block. */
async function readRangeEnds(reader: RangeReader, from: number, to: number) {
  const heights = from === to ? [from] : [from, to]
  const calls = [...heights.map(buildHeaderCall), buildLogsCall(reader, from, to)]
  const outcomes = await askWithChainId(reader, calls)
  const start = toHeader(reader, from, outcomes[0])
  const end = from === to ? start : toHeader(reader, to, outcomes[1])
  if (to === from + 1) assertChain([start, end], reader.fail)
  const [first, last] = [start.ref, end.ref]
  const logs = parseRangeLogs(reader, first, last, outcomes[heights.length])
  return { ends: from === to ? [start] : [start, end], first, last, logs }
}
