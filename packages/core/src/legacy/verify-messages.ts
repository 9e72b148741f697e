/** Lists the messages of a verify answer: why a payment does not match. Source: docs/interface.md 4.3. @module */
import { type VerificationError, verificationErrors } from '@payment-integration/contract'
import type { StoredPayment } from '../payments/record.js'
import { sameDecimal } from './decimal.js'
import type { AllowsFees } from './extra-fee.js'
import type { Payee } from './payee.js'
import type { PaymentInvoice } from './pricing.js'
import type { CheckedVerifyRequest } from './verify-request.js'

/** The request and the rules that a payment is compared with. */
export interface Judgement {
  /** The payee that the request names. */
  readonly payee: Payee
  /** The payment's own invoice, or null when it is unknown: then it matches none. */
  readonly invoice: PaymentInvoice | null
  /** Whether the fees leave the payee enough of the amount. */
  readonly allowsFees: AllowsFees
  readonly request: Pick<CheckedVerifyRequest, 'invoiceAmount' | 'invoiceCurrency'>
}

/** The messages in the order of docs/interface.md 4.3; none when the payment matches. */
export function verifyMessages(
  payment: StoredPayment,
  { payee, invoice, allowsFees, request }: Judgement,
): VerificationError[] {
  const matches: Readonly<Record<VerificationError, boolean>> = {
    'Payment does not match link configuration': payee.accepts(payment),
    'Invalid payment address': payee.received(payment),
    'Invalid payment currency': invoice?.currency === request.invoiceCurrency,
    'Invalid payment amount':
      invoice !== null && sameDecimal(invoice.amount, request.invoiceAmount) && allowsFees(payment.tokenOut),
  }
  return verificationErrors.filter((error) => !matches[error])
}
