/** The transactions behind payment logs: what integration they name, what the payer gave and what it cost. @module */
import type { PricingFacts } from '@payment-integration/core/ports'
import { calledPayment } from './called-payment.js'
import { type DirectPayment, type Emitted, noConversion, pairConversions } from './conversion-pairs.js'
import { transferredPayments } from './delivery.js'
import { type ReceiptFacts, readTransaction, type TransactionFacts } from './internal/answers.js'
import { pricingOf, unknownPricing } from './pricing.js'
import type { RangeReader } from './range-reader.js'
import { assertSameBlock, readOneReceipt, readProofs } from './read-receipts.js'
import type { DecodedPayment, RouterLog } from './router-decoder.js'
import { swapInput, type TokenAmount } from './token-in.js'

/** A payment, its log, what the payer gave for it and what it cost. */
export interface ReadPayment {
  readonly log: RouterLog
  readonly payment: DecodedPayment
  readonly given: TokenAmount
  readonly pricing: PricingFacts
}

/** The payments of one transaction, by log index. */
export interface TransactionPayments {
  readonly txHash: string
  readonly integrationAddress: string | null
  readonly payments: readonly ReadPayment[]
}

interface Decoded extends Emitted<DecodedPayment> {
  readonly log: RouterLog
}

/** What the listed routers emitted in one transaction, by log index. */
interface Group {
  readonly emitted: Emitted[]
  readonly payments: Decoded[]
}

/**
 * Decodes logs, and reads the transaction of each payment (in batches) and the receipts that it needs. A transaction with
 * conversions alone has no payment and is not read.
 * @param logs - Logs of listed routers, by block and log index.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readTransactions(
  reader: RangeReader,
  logs: readonly RouterLog[],
  signal?: AbortSignal,
): Promise<TransactionPayments[]> {
  const groups = [...decodeByTransaction(reader, logs)].filter(([, { payments }]) => payments.length > 0)
  const calls = groups.map(([hash]) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
  const answers = await reader.rpc.all(calls, signal)
  const receipts = await readProofs(reader, groups, signal)
  const result: TransactionPayments[] = []
  for (const [index, [txHash, group]] of groups.entries()) {
    const transaction = readTransaction(answers[index], reader.fail)
    const blockHashes = group.payments.map(({ log }) => log.blockHash)
    assertSameBlock('transaction', txHash, blockHashes, transaction, reader)
    result.push({
      txHash,
      integrationAddress: reader.decoder.integrationAddress(transaction.input),
      payments: await readPayments(reader, transaction, group, receipts.get(txHash) ?? null, signal),
    })
  }
  return result
}

function decodeByTransaction(reader: RangeReader, logs: readonly RouterLog[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const log of logs) {
    const version = reader.routers.get(log.address) ?? ''
    const group = groups.get(log.txHash) ?? { emitted: [], payments: [] }
    groups.set(log.txHash, group)
    const event = reader.decoder.decode(log, version)
    if (event.kind === 'malformed') {
      reportMalformed(reader, log, version, event.reason)
      if (reader.decoder.conversionTopics.includes(log.topics[0] ?? ''))
        group.emitted.push({ router: log.address, event: { kind: 'conversion', steps: [], forgeable: true } })
      continue
    }
    group.emitted.push({ router: log.address, event })
    if (event.kind === 'payment') group.payments.push({ router: log.address, event, log })
  }
  return groups
}

function reportMalformed(
  { chainId, onQuarantine }: RangeReader,
  log: RouterLog,
  version: string,
  reason: string,
): void {
  const { txHash, blockNumber, logIndex, address } = log
  onQuarantine({ chainId, txHash, blockNumber, logIndex, router: { address, version }, reason })
}

async function readPayments(
  reader: RangeReader,
  transaction: TransactionFacts,
  { emitted, payments }: Group,
  known: ReceiptFacts | null,
  signal?: AbortSignal,
): Promise<ReadPayment[]> {
  const version = transaction.to === null ? undefined : reader.routers.get(transaction.to)
  const call = version === undefined ? null : reader.decoder.call(transaction.input, version)
  const direct = call === null ? null : calledPayment(transaction, call, payments)
  const receipt = direct === null ? null : await readDirectReceipt(reader, transaction, direct, emitted, known, signal)
  const swap = direct?.call.swap ?? null
  const given =
    direct === null || swap === null || receipt === null ? null : swapInput(transaction, swap, direct, receipt)
  const conversions = pairConversions(emitted, direct)
  const transferred = known === null ? null : provedByReceipt(reader, payments, known)
  return payments.map(({ log, event }) => {
    const isDirect = direct?.payment === event
    const conversion = conversions.get(event) ?? noConversion
    const isProved = event.provedBy === 'event' || transferred?.has(event) === true
    const pricing = isProved
      ? pricingOf(reader.lists, event, conversion, isDirect ? direct.call : null)
      : unknownPricing
    if (given === null || !isDirect)
      return { log, payment: event, given: { token: event.token, amount: event.gross }, pricing }
    // The event repeats an argument of the call here, which may be anybody's address; who called is known.
    return { log, payment: { ...event, sender: transaction.from }, given, pricing }
  })
}

function provedByReceipt({ routers, decoder, fail }: RangeReader, payments: readonly Decoded[], receipt: ReceiptFacts) {
  const proved = transferredPayments(
    payments,
    receipt.logs,
    ({ address, topics: [topic = ''] }) => routers.has(address) && decoder.paymentTopics.includes(topic),
  )
  if (proved === null)
    throw fail.unavailable(`receipt ${receipt.hash} was answered without a log that eth_getLogs has.`)
  return proved
}

/**
 * The receipt of a swap, whose other logs tell what the payer gave, and of a call with price feeds for which no conversion
 * came: when the receipt has one, the node left it out of the logs. Null for any other call.
 */
async function readDirectReceipt(
  reader: RangeReader,
  { hash, blockHash }: TransactionFacts,
  { router, call }: DirectPayment,
  emitted: readonly Emitted[],
  known: ReceiptFacts | null,
  signal?: AbortSignal,
): Promise<ReceiptFacts | null> {
  const isConversion = ({ router: by, event }: Emitted) => by === router && event.kind === 'conversion'
  const lacksConversion = call.feeds?.some((feed) => feed !== null) === true && !emitted.some(isConversion)
  if (call.swap === null && !lacksConversion) return null
  const receipt = known ?? (await readOneReceipt(reader, hash, blockHash, signal))
  const { conversionTopics } = reader.decoder
  if (
    lacksConversion &&
    receipt.logs.some(({ address, topics: [topic = ''] }) => address === router && conversionTopics.includes(topic))
  )
    throw reader.fail.unavailable(`eth_getLogs left out a log of transaction ${hash}; it is asked again.`)
  return receipt
}
