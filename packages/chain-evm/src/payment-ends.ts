/** Reads, from the logs around payments, the integration of each and where it went. @module */
import { isBridgeCall } from './bridge/bridge-call.js'
import { type BridgedTo, findDeposits } from './bridge/find-deposits.js'
import { type LoggedPayment, needsReceipt, transferredPayments } from './delivery.js'
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from './internal/answers.js'
import type { RangeReader } from './range-reader.js'
import { placePayments } from './receipt-places.js'
import { nameIntegrations, namesByReceipt } from './user-operations/name-integrations.js'

/** Whom a payment names, and where it went. */
export interface PaymentEnd {
  /** Lowercased, or null. */
  readonly integrationAddress: string | null
  /** Whether its receiver got it on this chain. */
  readonly isDelivered: boolean
  /** The deposit that took it to another chain, or null. */
  readonly bridged: BridgedTo | null
  /** Whether a bridge call made it and no listed bridge took it. Its destination is unknown, so it is no payment. */
  readonly isAstray: boolean
}

/** Whether the receipt of a transaction is needed to tell the ends of its payments. */
export function needsEnds(
  { routers, decoder }: RangeReader,
  transaction: TransactionFacts,
  payments: readonly LoggedPayment[],
): boolean {
  return (
    payments.some(needsReceipt) ||
    namesByReceipt(transaction, isRouter(routers, transaction), decoder.integrationAddress)
  )
}

/**
 * The ends of all payments of a transaction, in their order.
 * @param receipt - Null where {@link needsEnds} says that none is needed.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE` when the receipt does not hold the log of each payment.
 */
export function readEnds(
  reader: RangeReader,
  transaction: TransactionFacts,
  payments: readonly LoggedPayment[],
  receipt: ReceiptFacts | null,
): readonly PaymentEnd[] {
  const { routers, decoder, fail, spokePools } = reader
  if (receipt === null) {
    const integrationAddress = decoder.integrationAddress(transaction.input)
    return payments.map(({ event }) => {
      const isDelivered = event.provedBy === 'event'
      return { integrationAddress, isDelivered, bridged: null, isAstray: false }
    })
  }
  const { logs } = receipt
  const isPaymentLog = ({ address, topics: [topic = ''] }: ReceiptLog) =>
    routers.has(address) && decoder.paymentTopics.includes(topic)
  const places = placePayments(
    payments.map(({ log }) => log),
    logs,
  )
  const transferred = transferredPayments(payments, logs, isPaymentLog)
  if (places === null || transferred === null)
    throw fail.unavailable(`receipt ${receipt.hash} was answered without a log that eth_getLogs has.`)
  const byReceipt = namesByReceipt(transaction, isRouter(routers, transaction), decoder.integrationAddress)
  const named = nameIntegrations(transaction, places, byReceipt ? receipt : null, decoder.integrationAddress)
  const events = payments.map(({ event }) => event)
  const deposits = findDeposits(events, places, logs, isPaymentLog, spokePools)
  const isBridging = isRouter(routers, transaction) && isBridgeCall(transaction.input)
  return events.map((event, index) => {
    const isDelivered = event.provedBy === 'event' || transferred.has(event)
    const bridged = isDelivered ? null : (deposits[index] ?? null)
    const isAstray = isBridging && !isDelivered && bridged === null
    return { integrationAddress: named[index] ?? null, isDelivered, bridged, isAstray }
  })
}

function isRouter(routers: RangeReader['routers'], { to }: TransactionFacts): boolean {
  return to !== null && routers.has(to)
}
