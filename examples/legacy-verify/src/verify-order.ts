/** Checks by the legacy API whether a transaction paid an order. @module */
import { isClientError, type LegacyClient } from '@payment-integration/client'

/** The payment that the shop expects. */
export interface ExpectedPayment {
  readonly chainId: number
  readonly txHash: string
  /** A decimal, as text: `12.50`. */
  readonly amount: string
  readonly currency: string
  /** The receiver's address or account handle. */
  readonly receiver: string
  /** The memo of the payment link: the order's number. Verify does not check it. */
  readonly memo: string
}

/** The verdict on an order. */
export type OrderVerdict =
  | { readonly kind: 'paid'; readonly final: boolean }
  | { readonly kind: 'not_paid'; readonly reasons: readonly string[] }
  | { readonly kind: 'unknown' }

/**
 * Verifies a transaction against an order. `paid`: all its payments match, and one has the memo. Credit each
 * transaction once, and ship irrevocable goods only when it is final.
 */
export async function verifyOrder(
  legacy: Pick<LegacyClient, 'lookup' | 'verify'>,
  { chainId, txHash, amount, currency, receiver, memo }: ExpectedPayment,
): Promise<OrderVerdict> {
  try {
    const request = { chainId, txHash, invoiceAmount: amount, invoiceCurrency: currency, address: receiver }
    const { payments } = await legacy.verify(request)
    if (!payments.some((payment) => payment.memo === memo)) return { kind: 'not_paid', reasons: ['Another memo'] }
    const { payments: seen } = await legacy.lookup({ chainId, txHash })
    return { kind: 'paid', final: seen.every(({ final }) => final) }
  } catch (error) {
    if (!isClientError(error)) throw error
    if (error.code === 'ERR_VERIFICATION_FAILED') return { kind: 'not_paid', reasons: error.verificationErrors }
    if (error.code === 'ERR_TRANSACTION_NOT_FOUND') return { kind: 'unknown' }
    throw error
  }
}
