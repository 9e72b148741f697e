/**
 * Builds the payment of a fulfilled deposit. Source: docs/interface.md 2.1 (chainId, txHash, source);
 * docs/decisions/cross-chain.md.
 * @module
 */
import type { PaymentFacts } from '../payments/facts.js'
import type { StoredPayment } from '../payments/record.js'
import type { BridgeDeposit, Fulfilment } from '../ports/fulfilment.js'

/**
 * First ordinal of a fulfilment; the position of its log is added. A bridge may pay several deposits in one
 * transaction, in which payments of a router are numbered from 0.
 */
export const firstFulfilmentOrdinal = 1_000_000

/**
 * The payment under its destination chain and transaction. Payer, paid token, memo and integration come from the source
 * chain. The received amount comes from the destination chain, which takes no fee. Rates of the source chain do not
 * apply to the received token.
 */
export function fulfilledPayment({ payment }: BridgeDeposit, fulfilment: Fulfilment): PaymentFacts {
  const { chainId, txHash, logIndex, position = logIndex } = fulfilment
  const { blockNumber, blockHash, blockTimestamp, receiver, listedToken } = fulfilment
  const { amount, ...token } = fulfilment.tokenOut
  return {
    chainId,
    txHash,
    ordinal: firstFulfilmentOrdinal + position,
    logIndex,
    blockNumber,
    blockHash,
    blockTimestamp,
    router: payment.router,
    sender: payment.sender,
    receiver,
    memoHex: payment.memoHex,
    integrationAddress: payment.integrationAddress,
    source: { chainId: payment.chainId, txHash: payment.txHash },
    tokenIn: payment.tokenIn,
    tokenOut: { ...token, gross: amount, net: amount },
    pricing: { listedToken, feeds: [], calledAmount: null, serviceFee: null },
  }
}

/**
 * The payment under its stored ordinal, when its block left the chain or it is recorded again. It never gets the
 * ordinal of another deposit.
 *
 * @param shown - The stored primary payments of the transaction.
 */
export function besideShown(facts: PaymentFacts, shown: readonly StoredPayment[]): PaymentFacts {
  const isSame = (row: StoredPayment) =>
    row.source.chainId === facts.source.chainId &&
    row.source.txHash === facts.source.txHash &&
    row.integrationAddress === facts.integrationAddress &&
    row.receiver === facts.receiver &&
    row.memoHex === facts.memoHex &&
    row.tokenOut.address === facts.tokenOut.address
  const isFill = (row: StoredPayment) => row.blockHash === facts.blockHash && row.logIndex === facts.logIndex
  const before = shown.find((row) => isSame(row) && (row.offChain || isFill(row)))
  if (before !== undefined) return { ...facts, ordinal: before.ordinal }
  let { ordinal } = facts
  while (shown.some((row) => row.ordinal === ordinal)) ordinal += 1
  return { ...facts, ordinal }
}

/**
 * The flaw of a source's answer, or null. A fulfilment must pay the promised amount and token to the receiver of the
 * deposit, on the promised chain.
 */
export function unfitFulfilment(deposit: BridgeDeposit, fulfilment: Fulfilment): string | null {
  const { destinationChainId, receiver, output } = deposit
  if (fulfilment.chainId !== destinationChainId) return 'it is on another chain than the deposit names'
  if (fulfilment.receiver !== receiver) return 'it paid another receiver than the deposit names'
  if (fulfilment.tokenOut.address !== output.token) return 'it paid another token than the deposit names'
  if (fulfilment.tokenOut.amount < output.amount) return 'it paid less than the deposit names'
  return null
}
