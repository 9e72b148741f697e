/**
 * Pairs payment events with bridge deposits of listed SpokePools. Source: the router's `yodlWithAcross`;
 * docs/decisions/cross-chain.md.
 * @module
 */

import type { BridgeDeposit } from '@payment-integration/core/ports'
import type { DecodedPayment } from '../decode/router-decoder.js'
import type { ReceiptLog } from '../rpc/answers.js'
import { toAddress } from '../rpc/hex.js'
import { type Deposit, decodeDeposit, depositTopics } from './spoke-pool-events.js'

// Deployed SpokePools of the Across bridge: proxies that survive upgrades, lowercased. Across has none on chain 100.
// Facts from across-protocol/contracts, `broadcast/deployed-addresses.json` at 8ab0730 (June 2026).

const byChain: Readonly<Record<number, readonly string[]>> = {
  1: ['0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'],
  10: ['0x6f26bf09b1c792e3228e5467807a900a503c0281'],
  56: ['0x4e8e101924ede233c13e2d8622dc8aed2872d505'],
  137: ['0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096'],
  8453: ['0x09aea4b2242abc8bb4bb78d537a67a245a7bec64'],
  42161: ['0xe35e9842fceaca96570b734083f4a58e8f7c5f2a'],
}

/** The SpokePools of a chain; none on a chain that is not known. */
export function knownSpokePools(chainId: number): readonly string[] {
  return byChain[chainId] ?? []
}

/** @throws {TypeError} When an entry is no address. */
export function checkSpokePools(spokePools: readonly string[]): ReadonlySet<string> {
  return new Set(
    spokePools.map((given) => {
      const address = toAddress(given)
      if (address !== null) return address
      throw new TypeError(`A SpokePool's address is ${JSON.stringify(given)}; pass 0x and 40 hex digits.`)
    }),
  )
}

/** `yodlWithAcross` of versions 0.8 and 0.9. */
const selector = '0xde537614'

/** Whether calldata of a router deposits into a bridge. */
export function isBridgeCall(calldata: string): boolean {
  return calldata.slice(0, selector.length).toLowerCase() === selector
}

// Pairs payment events with bridge deposits. Source: the router's `yodlWithAcross`; docs/decisions/cross-chain.md.
//
// The router deposits the gross amount in the name of its own caller, and then emits the payment event. So the
// payment's deposit is the last one of a listed SpokePool before it, and after any other payment. Depositor, recipient,
// token and amount must be the payment's. Deposits of other contracts do not count, and no deposit belongs to two
// payments.

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
