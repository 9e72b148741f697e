/** Reads the payments of a run of blocks, whole or not at all. Source: DESIGN section 2, flow 1. @module */
import type { BlockRange, BlockRef, PaymentFacts } from '@payment-integration/core/ports'
import { checkEmptyEnds } from './empty-ends.js'
import { readContents, readHeader, readLogs } from './internal/answers.js'
import { describeRpcError, type Failures } from './internal/failures.js'
import { quantity } from './internal/hex.js'
import type { RangeReader } from './range-reader.js'
import { readBlockTimes } from './read-block-times.js'
import { readTransactions, type TransactionPayments } from './read-transactions.js'
import type { RouterLog } from './router-decoder.js'

/**
 * Reads blocks `from` to `to`, both included. The headers at both ends and the logs are asked for in one batch, so that one
 * node answers all three; an end without logs is held against its header; the last header is read again at the end, so that
 * a change of the chain in between is seen.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a block of the range is missing or changed; `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readRange(
  reader: RangeReader,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<BlockRange> {
  const { rpc, fail } = reader
  const { first, last, ends, logs } = await readEnds(reader, from, to, signal)
  assertOneBranch(logs, first, last, fail)
  await checkEmptyEnds(reader, ends, logs.filter(isPaymentLog(reader)), signal)
  const transactions = await readTransactions(reader, logs, signal)
  const timeOf = await readBlockTimes(rpc, fail, paymentLogs(transactions), [first, last], signal)
  const payments: PaymentFacts[] = []
  for (const transaction of transactions) payments.push(...(await toFacts(reader, transaction, timeOf, to, signal)))
  const again = readHeader(await rpc.call(headerCall(to), signal), fail)
  if (again?.hash !== last.hash) throw fail.gone(`block ${to} is not the one it was when the logs were read.`)
  return { first, last, payments: payments.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex) }
}

function isPaymentLog({ decoder }: RangeReader) {
  return ({ topics: [topic = ''] }: RouterLog) => decoder.paymentTopics.includes(topic)
}

function headerCall(number: number) {
  return { method: 'eth_getBlockByNumber', params: [quantity(number), false] }
}

async function readEnds({ rpc, fail, routers, decoder }: RangeReader, from: number, to: number, signal?: AbortSignal) {
  const topics = [...decoder.paymentTopics, ...decoder.conversionTopics]
  const logsCall = {
    method: 'eth_getLogs',
    params: [{ fromBlock: quantity(from), toBlock: quantity(to), address: [...routers.keys()], topics: [topics] }],
  }
  const heights = from === to ? [from] : [from, to]
  const outcomes = await rpc.askAll([...heights.map(headerCall), logsCall], signal)
  const ends = heights.map((height, index) => {
    const outcome = outcomes[index]
    if (!outcome?.ok) throw fail.unavailable(`eth_getBlockByNumber: ${describeRpcError(outcome)}.`)
    const header = readHeader(outcome.result, fail)
    // A node that is behind says null here, and some then answer the logs of the missing blocks with an empty list.
    if (header === null) throw fail.gone(`the node has no block ${height}.`)
    if (header.number !== height) throw fail.unavailable(`block ${header.number} was answered for block ${height}.`)
    return { header, ...readContents(outcome.result) }
  })
  const answered = outcomes[heights.length]
  if (!answered?.ok) throw fail.unavailable(`eth_getLogs ${from} to ${to}: ${describeRpcError(answered)}.`)
  const first = ends[0]?.header
  const last = ends.at(-1)?.header
  if (first === undefined || last === undefined) throw fail.unavailable('eth_getBlockByNumber: no answer.')
  if (to === from + 1 && last.parentHash !== first.hash) throw fail.gone(`block ${to} does not follow block ${from}.`)
  const logs = readLogs(answered.result, fail).filter(
    (log) => routers.has(log.address) && topics.includes(log.topics[0] ?? ''),
  )
  return { first, last, ends, logs: logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex) }
}

/** Logs of one answer must agree with the headers and with each other on what block is at a height. */
function assertOneBranch(logs: readonly RouterLog[], first: BlockRef, last: BlockRef, fail: Failures): void {
  const hashes = new Map([
    [first.number, first.hash],
    [last.number, last.hash],
  ])
  let previous: RouterLog | undefined
  for (const log of logs) {
    if (log.blockNumber < first.number || log.blockNumber > last.number)
      throw fail.gone(`a log of block ${log.blockNumber} was answered for blocks ${first.number} to ${last.number}.`)
    const hash = hashes.get(log.blockNumber)
    if (hash === undefined) hashes.set(log.blockNumber, log.blockHash)
    else if (hash !== log.blockHash) throw fail.gone(`two blocks were answered for height ${log.blockNumber}.`)
    if (previous?.blockNumber === log.blockNumber && previous.logIndex === log.logIndex)
      throw fail.unavailable(`eth_getLogs answered log ${log.logIndex} of block ${log.blockNumber} twice.`)
    previous = log
  }
}

function paymentLogs(transactions: readonly TransactionPayments[]): RouterLog[] {
  return transactions.flatMap(({ payments }) => payments.map(({ log }) => log))
}

async function toFacts(
  { chainId, tokens, routers }: RangeReader,
  { txHash, integrationAddress, payments }: TransactionPayments,
  timeOf: (log: RouterLog) => number,
  to: number,
  signal?: AbortSignal,
): Promise<PaymentFacts[]> {
  const facts: PaymentFacts[] = []
  for (const { log, payment, given, pricing } of payments) {
    facts.push({
      chainId,
      txHash,
      ordinal: facts.length,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
      blockTimestamp: timeOf(log),
      router: { address: log.address, version: routers.get(log.address) ?? '' },
      sender: payment.sender,
      receiver: payment.receiver,
      memoHex: payment.memoHex,
      integrationAddress,
      source: { chainId, txHash },
      tokenIn: { ...(await tokens.of(given.token, to, signal)), amount: given.amount },
      tokenOut: { ...(await tokens.of(payment.token, to, signal)), gross: payment.gross, net: payment.net },
      pricing,
    })
  }
  return facts
}
