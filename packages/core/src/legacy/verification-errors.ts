/** Compares a payment with an invoice and a link configuration. Source: docs/interface.md 4.3. @module */
import { type CoinConfig, type VerificationError, verificationErrors } from '@payment-integration/contract'
import { lowercaseAddress } from '../internal/values.js'
import type { StoredPayment } from '../payments/payment.js'
import { parseHandle } from './accounts.js'
import { type FeeCheck, isSameDecimal, type PaymentInvoice } from './invoice-and-fees.js'
import type { CheckedVerifyRequest } from './legacy-requests.js'
import type { AccountRecord, AccountStore } from './legacy-store.js'

type Paid = Pick<StoredPayment, 'chainId' | 'receiver' | 'tokenOut' | 'pricing'>

export interface Payee {
  /** Whether a link configuration accepts the token of the payment on its chain, for this payee. */
  accepts(payment: Paid): boolean
  received(payment: Paid): boolean
}

/** Resolves an address, or the handle of an account in any case. */
export async function resolvePayee(
  accounts: Pick<AccountStore, 'find' | 'findByAddress'>,
  text: string,
): Promise<Payee> {
  const address = lowercaseAddress(text)
  if (address !== null) {
    const owners = await accounts.findByAddress(address)
    return {
      received: ({ receiver }) => receiver === address,
      // The configurations of the accounts decide; without an account every listed token is accepted.
      accepts: (payment) =>
        owners.length === 0
          ? payment.pricing.listedToken !== null
          : owners.some((account) => isAcceptedBy(account, payment, address)),
    }
  }
  const handle = parseHandle(text)
  const account = handle === null ? null : await accounts.find(handle)
  // Nothing is paid to an unknown handle, and no configuration is violated.
  if (account === null) return { received: () => false, accepts: () => true }
  return {
    received: ({ chainId, receiver }) => receiver === findReceiver(account, findCoin(account, chainId)),
    accepts: (payment) => isAcceptedBy(account, payment, payment.receiver),
  }
}

function isAcceptedBy(account: AccountRecord, payment: Paid, receiver: string): boolean {
  const coin = findCoin(account, payment.chainId)
  return coin !== undefined && acceptsToken(coin, payment) && findReceiver(account, coin) === receiver
}

function findCoin({ config }: AccountRecord, chainId: number): CoinConfig | undefined {
  return config.coins.find((coin) => coin.chainId === chainId)
}

function findReceiver({ address }: AccountRecord, coin: CoinConfig | undefined): string {
  return coin?.defaultAddress ?? address
}

// A symbol alone names the listed token: any contract can choose that symbol.
function acceptsToken({ tokens }: CoinConfig, { tokenOut, pricing }: Paid): boolean {
  return tokens.some(({ symbol, address }) =>
    address === undefined ? pricing.listedToken?.symbol === symbol : address === tokenOut.address,
  )
}

interface Judgement {
  readonly payee: Payee
  /** The invoice of the payment, or null when it is unknown: then it matches none. */
  readonly invoice: PaymentInvoice | null
  readonly allowsFees: FeeCheck
  readonly request: Pick<CheckedVerifyRequest, 'invoiceAmount' | 'invoiceCurrency'>
}

/** The rules that a payment violates, in the order of docs/interface.md 4.3; none: it matches. */
export function findVerificationErrors(
  payment: StoredPayment,
  { payee, invoice, allowsFees, request }: Judgement,
): VerificationError[] {
  const matches: Readonly<Record<VerificationError, boolean>> = {
    'Payment does not match link configuration': payee.accepts(payment),
    'Invalid payment address': payee.received(payment),
    'Invalid payment currency': invoice?.currency === request.invoiceCurrency,
    'Invalid payment amount':
      invoice !== null && isSameDecimal(invoice.amount, request.invoiceAmount) && allowsFees(payment.tokenOut),
  }
  return verificationErrors.filter((error) => !matches[error])
}
