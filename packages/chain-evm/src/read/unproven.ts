/**
 * Reads blocks on the node's word, compared only with the headers at both ends. Source: docs/decisions/completeness.md.
 * @module
 */

import type { BlockRange } from '@payment-integration/core/ports'
import type { RouterLog } from '../decode/router-decoder.js'
import { type ReceiptLog, readHeader, readLogs, readReceipt } from '../rpc/answers.js'
import { askOwnChain } from '../rpc/chain-guard.js'
import { readByTransaction } from './block-receipts.js'
import { assertChain, type Header, headerCall, readBlockTimes, toHeader } from './headers.js'
import { logsCall, logsIn, withRangeSize } from './logs.js'
import { readFacts } from './proven-blocks.js'
import type { RangeReader } from './range-reader.js'
import { type HeldFacts, readTransactions } from './transactions.js'

// Checks an empty answer against the header. Source: docs/decisions/completeness.md.
//
// Each end of a range without payment logs is compared with its header's log filter. If the filter reports some, the
// receipts of the block decide. If it is too full, `eth_getLogs` by block hash decides: nodes answer that from the
// block, not from an index.

/**
 * Checks the ends of a range without logs.
 * @param logs - The payment logs of the whole range, of listed routers only.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when logs were left out, or when the node does not answer the check.
 * `ERR_CHAIN_RANGE_GONE` when the block is gone.
 */
async function checkEmptyEnds(
  reader: RangeReader,
  ends: readonly Header[],
  logs: readonly RouterLog[],
  signal?: AbortSignal,
): Promise<void> {
  for (const end of ends) {
    const { ref, logsBloom } = end
    if (logsBloom === null || logs.some(({ blockNumber }) => blockNumber === ref.number)) continue
    const said = reader.filter(logsBloom)
    if (said !== 'no' && (await hasLogs(reader, end, said === 'likely', signal)))
      throw reader.fail.unavailable(
        `eth_getLogs left out the logs of block ${ref.number}; it is asked again. If this repeats, the node's index is broken.`,
      )
  }
}

async function hasLogs(reader: RangeReader, end: Header, likely: boolean, signal?: AbortSignal): Promise<boolean> {
  const { fail, routers, decoder } = reader
  if (!likely) {
    const filter = { blockHash: end.ref.hash, address: [...routers.keys()], topics: [decoder.paymentTopics] }
    const [outcome] = await askOwnChain(reader, [{ method: 'eth_getLogs', params: [filter] }], signal)
    // A node that does not know blocks by hash in this call, or not any more, still has receipts that decide.
    if (outcome?.ok) return readLogs(outcome.result, fail).some((log) => isPaymentLog(reader, log))
  }
  return inReceipts(reader, end, signal)
}

async function inReceipts(reader: RangeReader, end: Header, signal?: AbortSignal): Promise<boolean> {
  const { fail } = reader
  const { ref, transactions } = end
  const receipts = (await readByTransaction(reader, end, signal)).map((answer) => readReceipt(answer, fail))
  let found = false
  for (const [index, receipt] of receipts.entries()) {
    if (receipt === null || receipt.blockHash !== ref.hash)
      throw fail.gone(`receipt ${transactions?.[index]} is not in block ${ref.number}.`)
    if (receipt.hash !== transactions?.[index])
      throw fail.unavailable(`receipt ${receipt.hash} was answered for ${transactions?.[index]}.`)
    found ||= receipt.logs.some((log) => isPaymentLog(reader, log))
  }
  return found
}

function isPaymentLog({ routers, decoder }: RangeReader, { address, topics }: ReceiptLog): boolean {
  return routers.has(address) && decoder.paymentTopics.includes(topics[0] ?? '')
}

// Reads blocks on the node's word, compared only with the headers at both ends. For chains with filters or roots of
// their own kind. Source: docs/decisions/completeness.md.

const nothingHeld: HeldFacts = { receipts: new Map(), sizeOf: () => null, transactionsOf: () => null }

/**
 * Reads blocks from `from` on, up to `to` or as many as the node can answer. One batch asks for the headers at both
 * ends and the logs, so that one node answers all three. An end without logs is compared with its header.
 * The last header is read again at the end, to notice a reorg in between.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block of the range is missing or changed; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readUnproven(
  reader: RangeReader,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<BlockRange> {
  const { rpc, fail, decoder, node } = reader
  const { ends, logs } = await withRangeSize(reader, from, to, (upTo) => readEnds(reader, from, upTo, signal))
  const refs = ends.map(({ ref }) => ref)
  const [first] = refs
  const last = refs.at(-1)
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  const payments = logs.filter(({ topics: [topic = ''] }) => decoder.paymentTopics.includes(topic))
  await checkEmptyEnds(reader, ends, payments, signal)
  const transactions = await readTransactions(reader, logs, nothingHeld, signal)
  const paid: RouterLog[] = transactions.flatMap((transaction) => transaction.payments.map(({ log }) => log))
  const timeOf = await readBlockTimes(rpc, fail, paid, [first, last], signal)
  const facts = await readFacts(reader, transactions, timeOf, last.number, signal)
  const again = readHeader(await rpc.call(headerCall(last.number), signal), fail)
  if (again?.hash !== last.hash) throw fail.gone(`block ${last.number} is not the one it was when the logs were read.`)
  return { first, last, blocks: refs, ...facts, proof: 'none', node: node.name }
}

async function readEnds(reader: RangeReader, from: number, to: number, signal?: AbortSignal) {
  const { fail } = reader
  const heights = from === to ? [from] : [from, to]
  const outcomes = await askOwnChain(reader, [...heights.map(headerCall), logsCall(reader, from, to)], signal)
  const ends = heights.map((height, index) => toHeader(reader, height, outcomes[index]))
  const first = ends[0]?.ref
  const last = ends.at(-1)?.ref
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  if (to === from + 1) assertChain(ends, fail)
  return { ends, logs: logsIn(reader, first, last, outcomes[heights.length]) }
}
