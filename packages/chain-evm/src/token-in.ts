/**
 * What the payer gave. Rule:
 * - A payment whose transaction was not a swap call sent straight to the router: the token and gross amount of its event.
 * - A swap call (its sender, receiver and memo must fit exactly one payment of that router in the transaction): the token
 *   of the calldata, and of its Transfer logs in the receipt what the transaction's signer gave the router, less what the
 *   router gave back to the signer or to the payment's sender. Without such logs, the call's `amountIn`.
 * - A swap call that carries value: the native token, and the value less what the router unwrapped to give back.
 * Limits: a payment through a smart wallet or another contract shows the token that was paid, not one that was swapped
 * before; native coins leave no log, so those returned without unwrapping are not subtracted.
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

/** What the payer gave in a swap call. */
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
