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
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from './internal/answers.js'
import { toAddress, wordAt, wordToAddress } from './internal/hex.js'
import { nativeTokenAddress } from './native-token.js'
import type { DecodedPayment, SwapCall } from './router-decoder.js'

/** A token and an amount of it in base units. */
export interface TokenAmount {
  readonly token: string
  readonly amount: bigint
}

/** A payment with the router that emitted it. */
export interface EmittedPayment {
  readonly router: string
  readonly payment: DecodedPayment
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** `Withdrawal(address indexed src, uint256 wad)` of wrapped native tokens. */
const withdrawalTopic = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/** Picks the payment that a swap call made, or null when none or several fit. */
export function swappedPayment(
  transaction: TransactionFacts,
  call: SwapCall,
  payments: readonly EmittedPayment[],
): EmittedPayment | null {
  const fitting = payments.filter(
    ({ router, payment }) =>
      router === transaction.to &&
      payment.sender === call.sender &&
      payment.receiver === call.receiver &&
      payment.memoHex === call.memoHex,
  )
  return fitting.length === 1 ? (fitting[0] ?? null) : null
}

/** What the payer gave in a swap call. */
export function swapInput(
  transaction: TransactionFacts,
  call: SwapCall,
  { router, payment }: EmittedPayment,
  receipt: ReceiptFacts,
): TokenAmount {
  if (transaction.value > 0n) {
    const unwrapped = payment.token === nativeTokenAddress ? 0n : sumWithdrawals(receipt.logs, call.token, router)
    const kept = transaction.value - unwrapped
    return { token: nativeTokenAddress, amount: kept > 0n ? kept : transaction.value }
  }
  let given = 0n
  for (const transfer of transfersOf(receipt.logs, call.token)) {
    if (transfer.from === transaction.from && transfer.to === router) given += transfer.amount
    if (transfer.from === router && (transfer.to === transaction.from || transfer.to === payment.sender))
      given -= transfer.amount
  }
  return { token: call.token, amount: given > 0n ? given : call.amountIn }
}

function* transfersOf(logs: readonly ReceiptLog[], token: string) {
  for (const { address, topics, data } of logs) {
    if (address !== token || topics[0] !== transferTopic || topics.length !== 3) continue
    const from = wordToAddress(topics[1]?.slice(2) ?? null)
    const to = wordToAddress(topics[2]?.slice(2) ?? null)
    const amount = wordAt(data, 0)
    if (from !== null && to !== null && amount !== null) yield { from, to, amount: BigInt(`0x${amount}`) }
  }
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
