/** Computes the payer's amount from ERC-20 transfers, and checks that the receiver was paid. @module */
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from '../rpc/answers.js'
import { lowercaseAddress, uintAt, wordToAddress } from '../rpc/hex.js'
import type { DirectPayment } from './pair-conversions.js'
import { type DecodedPayment, nativeTokenAddress, type RouterCall } from './router-decoder.js'

/** `Transfer(address indexed from, address indexed to, uint256 value)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Parses a log as a transfer of its contract: lowercase addresses, base units; null for any other log. */
function parseTransfer({ address, topics, data }: ReceiptLog) {
  if (topics[0] !== transferTopic || topics.length !== 3) return null
  const from = wordToAddress(topics[1]?.slice(2) ?? null)
  const to = wordToAddress(topics[2]?.slice(2) ?? null)
  const amount = uintAt(data, 0)
  return from === null || to === null || amount === null ? null : { token: address, from, to, amount }
}

// The payer's amount of a direct swap call is the sum of the signer's transfers to the router, less the transfers back;
// without such logs, the call's `amountIn`. For a call with value, it is the value less the native coins that the
// router unwrapped to return. Coins returned without unwrapping leave no log and are not subtracted. If another
// contract called the router, the event's token and gross amount count.

/** `amount` is in base units. */
export interface TokenAmount {
  readonly token: string
  readonly amount: bigint
}

/** `Withdrawal(address indexed src, uint256 wad)` of wrapped native tokens. */
const withdrawalTopic = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/** Computes the token and amount that the payer gave in a swap call. */
export function computeSwapInput(
  transaction: TransactionFacts,
  swap: NonNullable<RouterCall['swap']>,
  { router, payment }: Pick<DirectPayment, 'router' | 'payment'>,
  receipt: ReceiptFacts,
): TokenAmount {
  if (transaction.value > 0n) {
    const unwrapped = payment.token === nativeTokenAddress ? 0n : sumWithdrawals(receipt.logs, swap.token, router)
    const spent = transaction.value - unwrapped
    return { token: nativeTokenAddress, amount: spent > 0n ? spent : transaction.value }
  }
  let amountIn = 0n
  for (const transfer of receipt.logs.map(parseTransfer)) {
    if (transfer?.token !== swap.token) continue
    if (transfer.from === transaction.from && transfer.to === router) amountIn += transfer.amount
    if (transfer.from === router && (transfer.to === transaction.from || transfer.to === payment.sender))
      amountIn -= transfer.amount
  }
  return { token: swap.token, amount: amountIn > 0n ? amountIn : swap.amountIn }
}

function sumWithdrawals(logs: readonly ReceiptLog[], wrapped: string, router: string): bigint {
  let sum = 0n
  for (const { address, topics, data } of logs) {
    if (address !== wrapped || topics[0] !== withdrawalTopic || topics.length !== 2) continue
    if (lowercaseAddress(`0x${topics[1]?.slice(26)}`) === router) sum += uintAt(data, 0) ?? 0n
  }
  return sum
}

// A bridge deposit emits a payment event too, but pays its receiver on another chain. A router that pays in an ERC-20
// token transfers the net amount last and then emits its event. So the last transfer of the token between the previous
// payment and this payment must move the net amount to the receiver.

/**
 * Whether the last transfer of the token since the previous payment moved the net amount to the receiver.
 * @param position - The position of the payment's log in `logs`, all logs of the receipt in order.
 */
export function isPaidByTransfer(
  { receiver, token, net }: DecodedPayment,
  position: number,
  logs: readonly ReceiptLog[],
  isPaymentLog: (log: ReceiptLog) => boolean,
): boolean {
  for (let index = position - 1; index >= 0; index--) {
    const log = logs[index]
    if (log === undefined || isPaymentLog(log)) return false
    const transfer = parseTransfer(log)
    if (transfer?.token === token) return transfer.to === receiver && transfer.amount === net
  }
  return false
}
