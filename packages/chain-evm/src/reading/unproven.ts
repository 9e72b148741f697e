/**
 * Reads blocks on the node's word, compared only with the headers at both ends. For chains with filters or roots of
 * their own kind. Source: docs/decisions/completeness.md.
 * @module
 */
import type { BlockRange } from '@payment-integration/core/ports'
import { checkEmptyEnds } from '../empty-ends.js'
import { readHeader } from '../internal/answers.js'
import type { RangeReader } from '../range-reader.js'
import { readBlockTimes } from '../read-block-times.js'
import { type HeldFacts, readTransactions } from '../read-transactions.js'
import type { RouterLog } from '../router-decoder.js'
import { readFacts } from './facts.js'
import { assertChain, headerCall, toHeader } from './headers.js'
import { logsCall, logsIn, withRangeSize } from './logs.js'
import { askOwnChain } from './own-chain.js'

const nothingHeld: HeldFacts = { receipts: new Map(), sizeOf: () => null, transactionsOf: () => null }

/**
 * Reads blocks from `from` on, up to `to` or as many as the endpoint can answer. One batch asks for the headers at both
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
  const { rpc, fail, decoder, endpoint } = reader
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
  return { first, last, blocks: refs, ...facts, proof: 'none', endpoint: endpoint.name }
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
