/** Reads from the transactions behind payments: integration, amounts, price, and where each payment went. @module */

import type { PricingFacts } from '@payment-integration/core/ports'
import { type DepositFacts, findDeposits, isBridgeCall } from '../bridge/spoke-pools.js'
import {
  type DirectPayment,
  type Emitted,
  findCalledPayment,
  noConversion,
  pairConversions,
} from '../decode/conversions.js'
import { nameIntegrations, needsReceiptForIntegrations } from '../decode/integrations.js'
import type { DecodedPayment, RouterLog } from '../decode/router-decoder.js'
import {
  computeSwapInput,
  findTransferredPayments,
  type LoggedPayment,
  needsReceipt,
  type TokenAmount,
} from '../decode/transfers.js'
import { computePricing, unknownPricing } from '../prices/pricing.js'
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from '../rpc/answers.js'
import {
  type CachedTransactions,
  groupLogs,
  readCalls,
  readReceipts,
  reportMalformed,
  type TransactionLogs,
} from './calls.js'
import type { RangeReader } from './range-reader.js'

/**
 * Finds each payment's log in the receipt.
 * @param payments - The payment logs of the transaction, by log index.
 * @param logs - All logs of the receipt, in order.
 * @returns Positions in `logs`, ascending, one per payment; null when the receipt lacks one or has another order.
 */
function findPaymentPositions(payments: readonly ReceiptLog[], logs: readonly ReceiptLog[]): readonly number[] | null {
  const places: number[] = []
  for (const [place, log] of logs.entries()) {
    const next = payments[places.length]
    if (next === undefined) break
    if (isSameLog(next, log)) places.push(place)
  }
  return places.length === payments.length ? places : null
}

function isSameLog(a: ReceiptLog, b: ReceiptLog): boolean {
  return a.address === b.address && a.data === b.data && a.topics.join() === b.topics.join()
}

/** Whom a payment names, and where it went. */
interface PaymentDestination {
  /** Lowercased, or null. */
  readonly integrationAddress: string | null
  /** Whether its receiver got it on this chain. */
  readonly isTransferred: boolean
  /** The deposit that took it to another chain, or null. */
  readonly bridged: DepositFacts | null
  /** Whether a bridge call made it and no listed bridge took it. Its destination is unknown, so it is no payment. */
  readonly isUnknownBridge: boolean
}

/** Whether the receipt of a transaction is needed to tell the ends of its payments. */
function needsReceiptForDestinations(
  { routers, decoder }: RangeReader,
  transaction: TransactionFacts,
  payments: readonly LoggedPayment[],
): boolean {
  return (
    payments.some(needsReceipt) ||
    needsReceiptForIntegrations(transaction, isRouter(routers, transaction), decoder.parseIntegrationAddress)
  )
}

/**
 * The ends of all payments of a transaction, in their order.
 * @param receipt - Null where {@link needsReceiptForDestinations} says that none is needed.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the receipt does not hold the log of each payment.
 */
function computeDestinations(
  reader: RangeReader,
  transaction: TransactionFacts,
  payments: readonly LoggedPayment[],
  receipt: ReceiptFacts | null,
): readonly PaymentDestination[] {
  const { routers, decoder, fail, spokePools } = reader
  if (receipt === null) {
    const integrationAddress = decoder.parseIntegrationAddress(transaction.input)
    return payments.map(({ event }) => {
      const isTransferred = event.provedBy === 'event'
      return { integrationAddress, isTransferred, bridged: null, isUnknownBridge: false }
    })
  }
  const { logs } = receipt
  const isPaymentLog = ({ address, topics: [topic = ''] }: ReceiptLog) =>
    routers.has(address) && decoder.paymentTopics.includes(topic)
  const places = findPaymentPositions(
    payments.map(({ log }) => log),
    logs,
  )
  const transferred = findTransferredPayments(payments, logs, isPaymentLog)
  if (places === null || transferred === null)
    throw fail.unavailable(`receipt ${receipt.hash} was answered without a log that eth_getLogs has.`)
  const byReceipt = needsReceiptForIntegrations(
    transaction,
    isRouter(routers, transaction),
    decoder.parseIntegrationAddress,
  )
  const named = nameIntegrations(transaction, places, byReceipt ? receipt : null, decoder.parseIntegrationAddress)
  const events = payments.map(({ event }) => event)
  const deposits = findDeposits(events, places, logs, isPaymentLog, spokePools)
  const isBridging = isRouter(routers, transaction) && isBridgeCall(transaction.input)
  return events.map((event, index) => {
    const isTransferred = event.provedBy === 'event' || transferred.has(event)
    const bridged = isTransferred ? null : (deposits[index] ?? null)
    const isUnknownBridge = isBridging && !isTransferred && bridged === null
    return { integrationAddress: named[index] ?? null, isTransferred, bridged, isUnknownBridge }
  })
}

function isRouter(routers: RangeReader['routers'], { to }: TransactionFacts): boolean {
  return to !== null && routers.has(to)
}

/** A payment, its log, whom it names, what the payer gave for it and what it cost. */
interface ReadPayment {
  readonly log: RouterLog
  readonly payment: DecodedPayment
  /** Lowercased, or null. */
  readonly integrationAddress: string | null
  /** The deposit that took it to another chain, or null. */
  readonly bridged: DepositFacts | null
  readonly amountIn: TokenAmount
  readonly pricing: PricingFacts
}

/** The payments of one transaction, by log index. */
export interface TransactionPayments {
  readonly txHash: string
  readonly payments: readonly ReadPayment[]
}

/** Facts that were read before the logs. */
export interface CachedFacts extends CachedTransactions {
  /** Receipts by transaction; those of all payments, where receipts were read to find them. */
  readonly receipts: ReadonlyMap<string, ReceiptFacts>
}

/** A transaction with payments. */
interface PayingTransaction {
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
  cached: CachedFacts,
  signal?: AbortSignal,
): Promise<TransactionPayments[]> {
  const groups = groupLogs(reader, logs)
  if (groups.length === 0) return []
  const calls = await readCalls(reader, groups, cached, signal)
  const payingTransactions = groups.map((group) => attachCall(reader, group, calls.get(group.txHash)))
  const needed = payingTransactions.filter((one) => needsReceiptOf(reader, one)).map(({ group }) => group)
  const receipts = await readReceipts(reader, needed, cached.receipts, signal)
  return payingTransactions.map((one) => ({
    txHash: one.group.txHash,
    payments: readPayments(reader, one, receipts.get(one.group.txHash) ?? null),
  }))
}

function attachCall(
  reader: RangeReader,
  group: TransactionLogs,
  transaction: TransactionFacts | undefined,
): PayingTransaction {
  if (transaction === undefined) throw reader.fail.unavailable(`transaction ${group.txHash} was not answered.`)
  const version = transaction.to === null ? undefined : reader.routers.get(transaction.to)
  const call = version === undefined ? null : reader.decoder.parseCall(transaction.input, version)
  return { group, transaction, direct: call && findCalledPayment(transaction, call, group.payments) }
}

/**
 * Whether a payment needs its receipt. An event that proves no end needs it, and so does a swap, whose other logs show
 * the payer's tokens. So does a call with price feeds but no conversion, which the node may have left out of the logs.
 */
function needsReceiptOf(reader: RangeReader, { group, transaction, direct }: PayingTransaction): boolean {
  if (needsReceiptForDestinations(reader, transaction, group.payments)) return true
  return direct !== null && (direct.call.swap !== null || lacksConversion(group, direct))
}

function lacksConversion({ emitted }: TransactionLogs, { router, call }: DirectPayment): boolean {
  const isConversion = ({ router: by, event }: Emitted) => by === router && event.kind === 'conversion'
  return call.feeds?.some((feed) => feed !== null) === true && !emitted.some(isConversion)
}

function readPayments(
  reader: RangeReader,
  { group, transaction, direct }: PayingTransaction,
  receipt: ReceiptFacts | null,
): ReadPayment[] {
  const { emitted, payments } = group
  if (direct !== null && receipt !== null && lacksConversion(group, direct)) assertNoConversion(reader, direct, receipt)
  const swap = direct?.call.swap ?? null
  const amountIn =
    direct === null || swap === null || receipt === null ? null : computeSwapInput(transaction, swap, direct, receipt)
  const conversions = pairConversions(emitted, direct)
  const ends = computeDestinations(
    reader,
    transaction,
    payments,
    needsReceiptForDestinations(reader, transaction, payments) ? receipt : null,
  )
  return payments.flatMap(({ log, event }, index): ReadPayment[] => {
    const {
      integrationAddress = null,
      isTransferred = false,
      bridged = null,
      isUnknownBridge = false,
    } = ends[index] ?? {}
    if (isUnknownBridge) {
      const version = reader.routers.get(log.address) ?? ''
      reportMalformed(reader, log, version, 'a bridge call without the deposit of a listed bridge')
      return []
    }
    const isDirect = direct?.payment === event
    const conversion = conversions.get(event) ?? noConversion
    const pricing = isTransferred
      ? computePricing(reader.lists, event, conversion, isDirect ? direct.call : null)
      : unknownPricing
    // The event repeats an argument of the call here, which may be anybody's address; who called is known.
    const isSwap = amountIn !== null && isDirect
    const payment = isSwap ? { ...event, sender: transaction.from } : event
    const paid = isSwap ? amountIn : { token: event.token, amount: event.gross }
    return [{ log, payment, integrationAddress, bridged, amountIn: paid, pricing }]
  })
}

function assertNoConversion({ decoder, fail }: RangeReader, { router }: DirectPayment, receipt: ReceiptFacts): void {
  const { conversionTopics } = decoder
  if (receipt.logs.some(({ address, topics: [topic = ''] }) => address === router && conversionTopics.includes(topic)))
    throw fail.unavailable(`eth_getLogs left out a log of transaction ${receipt.hash}; it is asked again.`)
}
