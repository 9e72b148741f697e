/** The transactions behind payment logs: what integration they name, what the payer gave and what it cost. @module */
import type { PricingFacts } from '@payment-integration/core/ports'
import type { BridgedTo } from './bridge/find-deposits.js'
import { calledPayment } from './called-payment.js'
import { type DirectPayment, type Emitted, noConversion, pairConversions } from './conversion-pairs.js'
import { groupLogs, reportMalformed, type TransactionLogs } from './group-logs.js'
import type { ReceiptFacts, TransactionFacts } from './internal/answers.js'
import { needsEnds, readEnds } from './payment-ends.js'
import { pricingOf, unknownPricing } from './pricing.js'
import type { RangeReader } from './range-reader.js'
import { type HeldTransactions, readCalls } from './read-calls.js'
import { readReceipts } from './read-receipts.js'
import type { DecodedPayment, RouterLog } from './router-decoder.js'
import { swapInput, type TokenAmount } from './token-in.js'

/** A payment, its log, whom it names, what the payer gave for it and what it cost. */
export interface ReadPayment {
  readonly log: RouterLog
  readonly payment: DecodedPayment
  /** Lowercased, or null. */
  readonly integrationAddress: string | null
  /** The deposit that took it to another chain, or null. */
  readonly bridged: BridgedTo | null
  readonly given: TokenAmount
  readonly pricing: PricingFacts
}

/** The payments of one transaction, by log index. */
export interface TransactionPayments {
  readonly txHash: string
  readonly payments: readonly ReadPayment[]
}

/** Facts that were read before the logs. */
export interface HeldFacts extends HeldTransactions {
  /** Receipts by transaction; those of all payments, where receipts were read to find them. */
  readonly receipts: ReadonlyMap<string, ReceiptFacts>
}

/** A transaction with payments. */
interface Paying {
  readonly group: TransactionLogs
  readonly transaction: TransactionFacts
  /** The payment that a call sent straight to a router made. */
  readonly direct: DirectPayment | null
}

/**
 * Decodes logs, then reads each payment's transaction (in batches) and the receipts that are needed and not yet known.
 * A transaction with conversions alone has no payment and is not read.
 * @param logs - Logs of listed routers, by block, transaction and log index.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from;
 * `ERR_CHAIN_UNAVAILABLE`.
 */
export async function readTransactions(
  reader: RangeReader,
  logs: readonly RouterLog[],
  held: HeldFacts,
  signal?: AbortSignal,
): Promise<TransactionPayments[]> {
  const groups = groupLogs(reader, logs)
  if (groups.length === 0) return []
  const calls = await readCalls(reader, groups, held, signal)
  const paying = groups.map((group) => withCall(reader, group, calls.get(group.txHash)))
  const needed = paying.filter((one) => wantsReceipt(reader, one)).map(({ group }) => group)
  const receipts = await readReceipts(reader, needed, held.receipts, signal)
  return paying.map((one) => ({
    txHash: one.group.txHash,
    payments: readPayments(reader, one, receipts.get(one.group.txHash) ?? null),
  }))
}

function withCall(reader: RangeReader, group: TransactionLogs, transaction: TransactionFacts | undefined): Paying {
  if (transaction === undefined) throw reader.fail.unavailable(`transaction ${group.txHash} was not answered.`)
  const version = transaction.to === null ? undefined : reader.routers.get(transaction.to)
  const call = version === undefined ? null : reader.decoder.call(transaction.input, version)
  return { group, transaction, direct: call && calledPayment(transaction, call, group.payments) }
}

/**
 * Whether a payment needs its receipt. An event that proves no end needs it, and so does a swap, whose other logs show
 * the payer's tokens. So does a call with price feeds but no conversion, which the node may have left out of the logs.
 */
function wantsReceipt(reader: RangeReader, { group, transaction, direct }: Paying): boolean {
  if (needsEnds(reader, transaction, group.payments)) return true
  return direct !== null && (direct.call.swap !== null || lacksConversion(group, direct))
}

function lacksConversion({ emitted }: TransactionLogs, { router, call }: DirectPayment): boolean {
  const isConversion = ({ router: by, event }: Emitted) => by === router && event.kind === 'conversion'
  return call.feeds?.some((feed) => feed !== null) === true && !emitted.some(isConversion)
}

function readPayments(
  reader: RangeReader,
  { group, transaction, direct }: Paying,
  receipt: ReceiptFacts | null,
): ReadPayment[] {
  const { emitted, payments } = group
  if (direct !== null && receipt !== null && lacksConversion(group, direct)) assertNoConversion(reader, direct, receipt)
  const swap = direct?.call.swap ?? null
  const given =
    direct === null || swap === null || receipt === null ? null : swapInput(transaction, swap, direct, receipt)
  const conversions = pairConversions(emitted, direct)
  const ends = readEnds(reader, transaction, payments, needsEnds(reader, transaction, payments) ? receipt : null)
  return payments.flatMap(({ log, event }, index): ReadPayment[] => {
    const { integrationAddress = null, isDelivered = false, bridged = null, isAstray = false } = ends[index] ?? {}
    if (isAstray) {
      const version = reader.routers.get(log.address) ?? ''
      reportMalformed(reader, log, version, 'a bridge call without the deposit of a listed bridge')
      return []
    }
    const isDirect = direct?.payment === event
    const conversion = conversions.get(event) ?? noConversion
    const pricing = isDelivered
      ? pricingOf(reader.lists, event, conversion, isDirect ? direct.call : null)
      : unknownPricing
    // The event repeats an argument of the call here, which may be anybody's address; who called is known.
    const isSwap = given !== null && isDirect
    const payment = isSwap ? { ...event, sender: transaction.from } : event
    const paid = isSwap ? given : { token: event.token, amount: event.gross }
    return [{ log, payment, integrationAddress, bridged, given: paid, pricing }]
  })
}

function assertNoConversion({ decoder, fail }: RangeReader, { router }: DirectPayment, receipt: ReceiptFacts): void {
  const { conversionTopics } = decoder
  if (receipt.logs.some(({ address, topics: [topic = ''] }) => address === router && conversionTopics.includes(topic)))
    throw fail.unavailable(`eth_getLogs left out a log of transaction ${receipt.hash}; it is asked again.`)
}
