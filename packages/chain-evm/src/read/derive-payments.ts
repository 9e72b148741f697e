/** Derives a payment's integration, amounts, price and destination from its transaction. @module */
import type { PricingFacts } from '@payment-integration/core/ports'
import { type DepositFacts, findDeposits, isBridgeCall } from '../bridge/spoke-pools.js'
import { findIntegrations, needsReceiptForIntegrations } from '../decode/integrations.js'
import type { DirectPayment, Emitted } from '../decode/pair-conversions.js'
import { findCalledPayment, noConversion, pairConversions } from '../decode/pair-conversions.js'
import type { DecodedPayment, RouterLog } from '../decode/router-decoder.js'
import { computeSwapInput, isPaidByTransfer, type TokenAmount } from '../decode/transfers.js'
import { computePricing, unknownPricing } from '../prices/pricing.js'
import { isSameLog, type ReceiptFacts, type ReceiptLog, type TransactionFacts } from '../rpc/answers.js'
import type { CachedFacts, TransactionLogs } from './payment-transactions.js'
import { groupLogs, readPaymentTransactions, readReceipts, reportQuarantined } from './payment-transactions.js'
import { isPaymentLog, type RangeReader } from './range-reader.js'

/**
 * Finds each payment's log in the receipt.
 * @param payments - All payment logs of the transaction, in log order.
 * @returns Ascending positions in `logs`, one per payment; null when one is missing or out of order.
 */
function findPaymentPositions(payments: readonly ReceiptLog[], logs: readonly ReceiptLog[]): readonly number[] | null {
  const positions: number[] = []
  for (const [position, log] of logs.entries()) {
    const next = payments[positions.length]
    if (next === undefined) break
    if (isSameLog(next, log)) positions.push(position)
  }
  return positions.length === payments.length ? positions : null
}

interface PaymentDestination {
  /** Lowercased. */
  readonly integrationAddress: string | null
  /** Whether the receiver was paid on this chain. */
  readonly isTransferred: boolean
  /** The deposit into a listed bridge; null: none. */
  readonly deposit: DepositFacts | null
  /** A bridge call without a deposit into a listed bridge: its destination is unknown, so no payment is recorded. */
  readonly isUnknownBridge: boolean
}

function needsReceiptForDestinations(
  { routers, decoder }: RangeReader,
  transaction: TransactionFacts,
  payments: TransactionLogs['payments'],
): boolean {
  return (
    payments.some(({ event }) => event.provedBy === 'transfer') ||
    needsReceiptForIntegrations(transaction, isRouter(routers, transaction), decoder.parseIntegrationAddress)
  )
}

/** Finds the destination of each payment, in order. @param receipt - Null if the destinations do not need it. */
function computeDestinations(
  reader: RangeReader,
  transaction: TransactionFacts,
  payments: TransactionLogs['payments'],
  receipt: ReceiptFacts | null,
): readonly PaymentDestination[] {
  const { routers, decoder, fail, spokePools } = reader
  if (receipt === null) {
    const integrationAddress = decoder.parseIntegrationAddress(transaction.input)
    // Without a receipt, every payment is proved by its event ({@link needsReceiptForDestinations}).
    return payments.map(() => ({ integrationAddress, isTransferred: true, deposit: null, isUnknownBridge: false }))
  }
  const { logs } = receipt
  const isPayment = (log: ReceiptLog) => isPaymentLog(reader, log)
  const paymentLogs = payments.map(({ log }) => log)
  const positions = findPaymentPositions(paymentLogs, logs)
  if (positions === null)
    throw fail.unavailable(`receipt ${receipt.hash} was answered without a log that eth_getLogs has.`)
  const isToRouter = isRouter(routers, transaction)
  const { parseIntegrationAddress } = decoder
  const integrations = findIntegrations(transaction, positions, isToRouter ? null : receipt, parseIntegrationAddress)
  const events = payments.map(({ event }) => event)
  const deposits = findDeposits(events, positions, logs, isPayment, spokePools)
  const isBridging = isToRouter && isBridgeCall(transaction.input)
  return events.map((event, index) => {
    const isTransferred = event.provedBy === 'event' || isPaidByTransfer(event, positions[index] ?? 0, logs, isPayment)
    const deposit = isTransferred ? null : (deposits[index] ?? null)
    const isUnknownBridge = isBridging && !isTransferred && deposit === null
    return { integrationAddress: integrations[index] ?? null, isTransferred, deposit, isUnknownBridge }
  })
}

function isRouter(routers: RangeReader['routers'], { to }: TransactionFacts): boolean {
  return to !== null && routers.has(to)
}

export interface DerivedPayment extends Pick<PaymentDestination, 'integrationAddress' | 'deposit'> {
  /** Position among the payments of the transaction, from 0. */
  readonly ordinal: number
  readonly log: RouterLog
  readonly payment: DecodedPayment
  /** The token and amount that the payer gave. */
  readonly amountIn: TokenAmount
  readonly pricing: PricingFacts
}

interface PayingTransaction {
  readonly group: TransactionLogs
  readonly transaction: TransactionFacts
  /** The payment of a call sent directly to a router. */
  readonly direct: DirectPayment | null
}

/**
 * Decodes logs, and reads the transactions and receipts of their payments that are not cached.
 * @param logs - Logs of listed routers, in block, transaction and log order.
 * @returns The payments in that order.
 * @throws ChainError `ERR_CHAIN_RANGE_GONE` when a transaction is no longer in the block its logs came from.
 */
export async function readDerivedPayments(
  reader: RangeReader,
  logs: readonly RouterLog[],
  cached: CachedFacts,
): Promise<DerivedPayment[]> {
  const groups = groupLogs(reader, logs)
  if (groups.length === 0) return []
  const transactions = await readPaymentTransactions(reader, groups, cached.blocks)
  const payingTransactions = groups.map((group): PayingTransaction => {
    const transaction = transactions.get(group.txHash)
    if (transaction === undefined) throw reader.fail.unavailable(`transaction ${group.txHash} was not answered.`)
    const version = transaction.to === null ? undefined : reader.routers.get(transaction.to)
    const call = version === undefined ? null : reader.decoder.parseCall(transaction.input, version)
    return { group, transaction, direct: call && findCalledPayment(transaction, call, group.payments) }
  })
  const needed = payingTransactions.filter((each) => isReceiptNeeded(reader, each)).map(({ group }) => group)
  const receipts = await readReceipts(reader, needed, cached.receipts)
  return payingTransactions.flatMap((transaction) =>
    derivePayments(reader, transaction, receipts.get(transaction.group.txHash) ?? null),
  )
}

/**
 * Whether payments need the receipt of their transaction: for their destinations, or for the input amount of a swap. A
 * call with price feeds but without a conversion event needs it too: `eth_getLogs` may have left the event out.
 */
function isReceiptNeeded(reader: RangeReader, { group, transaction, direct }: PayingTransaction): boolean {
  if (needsReceiptForDestinations(reader, transaction, group.payments)) return true
  return direct !== null && (direct.call.swap !== null || lacksConversion(group, direct))
}

function lacksConversion({ emitted }: TransactionLogs, { router, call }: DirectPayment): boolean {
  const isConversion = ({ router: emitter, event }: Emitted) => emitter === router && event.kind === 'conversion'
  return call.feeds?.some((feed) => feed !== null) === true && !emitted.some(isConversion)
}

function derivePayments(
  reader: RangeReader,
  { group, transaction, direct }: PayingTransaction,
  receipt: ReceiptFacts | null,
): DerivedPayment[] {
  const { emitted, payments } = group
  if (direct !== null && receipt !== null && lacksConversion(group, direct)) assertNoConversion(reader, direct, receipt)
  const swap = direct?.call.swap ?? null
  const swapInput =
    direct === null || swap === null || receipt === null ? null : computeSwapInput(transaction, swap, direct, receipt)
  const conversions = pairConversions(emitted, direct)
  const isNeeded = needsReceiptForDestinations(reader, transaction, payments)
  const destinations = computeDestinations(reader, transaction, payments, isNeeded ? receipt : null)
  let ordinal = 0
  return payments.flatMap(({ log, event }, index): DerivedPayment[] => {
    const { integrationAddress, isTransferred, deposit, isUnknownBridge } = destinations[index] as PaymentDestination
    if (isUnknownBridge) {
      reportQuarantined(reader, log, 'a bridge call without a deposit into a listed bridge')
      return []
    }
    const isDirect = direct?.payment === event
    const conversion = conversions.get(event) ?? noConversion
    const pricing = isTransferred
      ? computePricing(reader.priceLists, event, conversion, isDirect ? direct.call : null)
      : unknownPricing
    // A swap's event repeats the sender argument, which the caller chooses freely; the signer is certain.
    const isSwap = swapInput !== null && isDirect
    const payment = isSwap ? { ...event, sender: transaction.from } : event
    const amountIn = isSwap ? swapInput : { token: event.token, amount: event.gross }
    return [{ ordinal: ordinal++, log, payment, integrationAddress, deposit, amountIn, pricing }]
  })
}

function assertNoConversion({ decoder, fail }: RangeReader, { router }: DirectPayment, receipt: ReceiptFacts): void {
  const { conversionTopics } = decoder
  if (receipt.logs.some(({ address, topics: [topic = ''] }) => address === router && conversionTopics.includes(topic)))
    throw fail.unavailable(`eth_getLogs left out a log of transaction ${receipt.hash}; the range is read again.`)
}
