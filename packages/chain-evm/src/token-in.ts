/**
 * The token and amount that the payer gave.
 * - Without a swap call sent straight to the router: the token and gross amount of the event.
 * - A swap call: the token of the calldata, and the signer's transfers to the router, by the receipt's Transfer logs.
 * Transfers back to the signer or the sender are subtracted. Without such logs, the call's `amountIn`. Sender, receiver
 * and memo must fit exactly one payment of that router in the transaction.
 * - A swap call with value: the native token, and the value less the amount that the router unwrapped to give back.
 * Limits: a payment through another contract shows the paid token, not one swapped before. Native coins leave no log,
 * so coins returned without unwrapping are not subtracted.
 * @module
 */
import type { DirectPayment } from './conversion-pairs.js'
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from './internal/answers.js'
import { toAddress, wordAt } from './internal/hex.js'
import { nativeTokenAddress } from './native-token.js'
import type { RouterCall } from './router-decoder.js'
import { readTransfer } from './transfers.js'

/** A token and an amount of it in base units. */
export interface TokenAmount {
  readonly token: string
  readonly amount: bigint
}

/** `Withdrawal(address indexed src, uint256 wad)` of wrapped native tokens. */
const withdrawalTopic = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/** The payer's token and amount in a swap call. */
export function swapInput(
  transaction: TransactionFacts,
  swap: NonNullable<RouterCall['swap']>,
  { router, payment }: Pick<DirectPayment, 'router' | 'payment'>,
  receipt: ReceiptFacts,
): TokenAmount {
  if (transaction.value > 0n) {
    const unwrapped = payment.token === nativeTokenAddress ? 0n : sumWithdrawals(receipt.logs, swap.token, router)
    const kept = transaction.value - unwrapped
    return { token: nativeTokenAddress, amount: kept > 0n ? kept : transaction.value }
  }
  let given = 0n
  for (const transfer of receipt.logs.map(readTransfer)) {
    if (transfer?.token !== swap.token) continue
    if (transfer.from === transaction.from && transfer.to === router) given += transfer.amount
    if (transfer.from === router && (transfer.to === transaction.from || transfer.to === payment.sender))
      given -= transfer.amount
  }
  return { token: swap.token, amount: given > 0n ? given : swap.amountIn }
}

function sumWithdrawals(logs: readonly ReceiptLog[], wrapped: string, router: string): bigint {
  let sum = 0n
  for (const { address, topics, data } of logs) {
    if (address !== wrapped || topics[0] !== withdrawalTopic || topics.length !== 2) continue
    const amount = wordAt(data, 0)
    if (toAddress(`0x${topics[1]?.slice(26)}`) === router && amount !== null) sum += BigInt(`0x${amount}`)
  }
  return sum
}
