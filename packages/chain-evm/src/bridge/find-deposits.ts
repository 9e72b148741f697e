/**
 * Pairs payment events with bridge deposits. Source: the router's `yodlWithAcross`; docs/decisions/cross-chain.md.
 *
 * The router deposits the gross amount in the name of its own caller, and then emits the payment event. So the
 * payment's deposit is the last one of a listed SpokePool before it, and after any other payment. Depositor, recipient,
 * token and amount must be the payment's. Deposits of other contracts do not count, and no deposit belongs to two
 * payments.
 * @module
 */
import type { BridgeDeposit } from '@payment-integration/core/ports'
import type { ReceiptLog } from '../internal/answers.js'
import type { DecodedPayment } from '../router-decoder.js'
import { type Deposit, decodeDeposit, depositTopics } from './decode-deposit.js'

/** Name of the bridge in {@link BridgeDeposit}. */
export const acrossBridge = 'across'

/** The facts of a deposit beside its payment. */
export type BridgedTo = Omit<BridgeDeposit, 'payment'>

/**
 * The deposit of each payment.
 * @param payments - All of the transaction, by log index.
 * @param places - Where their logs are in `logs`.
 * @param logs - All logs of the receipt, in order.
 * @param isPaymentLog - Whether a log has the topic of a payment and comes from a listed router.
 * @param spokePools - Listed bridge contracts, lowercased.
 * @returns One per payment; null where there is none.
 */
export function findDeposits(
  payments: readonly DecodedPayment[],
  places: readonly number[],
  logs: readonly ReceiptLog[],
  isPaymentLog: (log: ReceiptLog) => boolean,
  spokePools: ReadonlySet<string>,
): readonly (BridgedTo | null)[] {
  return payments.map((payment, index) => {
    const log = lastDepositLog(logs, places[index] ?? 0, isPaymentLog, spokePools)
    const deposit = log === null ? null : decodeDeposit(log)
    return deposit !== null && isOf(payment, deposit) ? toBridgedTo(deposit) : null
  })
}

function lastDepositLog(
  logs: readonly ReceiptLog[],
  before: number,
  isPaymentLog: (log: ReceiptLog) => boolean,
  spokePools: ReadonlySet<string>,
): ReceiptLog | null {
  for (let place = before - 1; place >= 0; place--) {
    const log = logs[place]
    if (log === undefined || isPaymentLog(log)) return null
    if (spokePools.has(log.address) && depositTopics.has(log.topics[0] ?? '')) return log
  }
  return null
}

function isOf({ sender, receiver, token, gross }: DecodedPayment, { depositor, recipient, input }: Deposit): boolean {
  return depositor === sender && recipient === receiver && input.token === token && input.amount === gross
}

function toBridgedTo({ depositId, destinationChainId, recipient, output }: Deposit): BridgedTo {
  return { bridge: acrossBridge, depositId, destinationChainId, receiver: recipient, output }
}
