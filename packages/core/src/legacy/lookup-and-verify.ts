/** The legacy endpoints, after authentication. Source: docs/interface.md 4.3. @module */
import type { CoinConfig, Lookup, VerificationError } from '@payment-integration/contract'
import { type VerifyRequest, type VerifyResponse, verificationErrors } from '@payment-integration/contract'
import { TransactionNotFoundError } from '../errors.js'
import { lowercaseAddress } from '../internal/values.js'
import type { StoredPayment } from '../payments/payment.js'
import { decodeMemo, formatUnits, insertDecimalPoint } from '../payments/payment.js'
import type { PaymentReads, PaymentSelector } from '../payments/payment-store.js'
import { parseHandle } from './accounts.js'
import { type Confirmations, createFinality } from './finality.js'
import type { PaymentInvoice } from './invoice-and-fees.js'
import { computeFees, createExtraFeeCheck, deriveInvoice, formatConversion, isSameDecimal } from './invoice-and-fees.js'
import { checkVerifyRequest, parseTransactionKey } from './legacy-requests.js'
import type { AccountRecord, AccountStore } from './legacy-store.js'

export type LegacyQueries = ReturnType<typeof createLegacyQueries>

type LegacyPayment = Lookup['payments'][number]

/** Builds the item field by field from facts of the chain alone: no integration, state or merchant data. */
function buildLegacyPayment(payment: StoredPayment, invoice: PaymentInvoice | null, final: boolean): LegacyPayment {
  const { tokenOut, pricing } = payment
  const { decimals } = tokenOut
  const fees = computeFees(payment)
  return {
    memo: decodeMemo(payment.memoHex),
    receiver: payment.receiver,
    tokenSymbol: tokenOut.symbol ?? '',
    tokenAmount: buildTokenAmount(tokenOut.gross, decimals),
    tokenAmountNet: buildTokenAmount(tokenOut.net, decimals),
    totalFees: buildTokenAmount(fees.total, decimals),
    fees: fees.parts.map(({ type, value }) => ({ type, ...buildTokenAmount(value, decimals) })),
    invoiceAmount: invoice?.amount ?? '',
    invoiceCurrency: invoice?.currency ?? '',
    conversion: formatConversion(pricing),
    priceFeeds: pricing.feeds.map(({ pair, contract, rate, decimals: rateDecimals }) => ({
      name: pair === null ? '' : `${pair.base}${pair.quote}`,
      contract: contract ?? '',
      rate: formatUnits(rate, rateDecimals),
    })),
    final,
  }
}

function buildTokenAmount(units: bigint, decimals: number) {
  const value = units.toString()
  return { formatted: insertDecimalPoint(value, decimals), value }
}

type Paid = Pick<StoredPayment, 'chainId' | 'receiver' | 'tokenOut' | 'pricing'>

interface Payee {
  /** Whether a link configuration accepts the token of the payment on its chain, for this payee. */
  accepts(payment: Paid): boolean
  received(payment: Paid): boolean
}

/** Resolves an address, or the handle of an account in any case. */
async function resolvePayee(accounts: Pick<AccountStore, 'find' | 'findByAddress'>, text: string): Promise<Payee> {
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
    received: ({ chainId, receiver }) => receiver === findConfiguredReceiver(account, findCoin(account, chainId)),
    accepts: (payment) => isAcceptedBy(account, payment, payment.receiver),
  }
}

function isAcceptedBy(account: AccountRecord, payment: Paid, receiver: string): boolean {
  const coin = findCoin(account, payment.chainId)
  return coin !== undefined && acceptsToken(coin, payment) && findConfiguredReceiver(account, coin) === receiver
}

function findCoin({ config }: AccountRecord, chainId: number): CoinConfig | undefined {
  return config.coins.find((coin) => coin.chainId === chainId)
}

function findConfiguredReceiver({ address }: AccountRecord, coin: CoinConfig | undefined): string {
  return coin?.defaultAddress ?? address
}

// A symbol without an address means the listed token only, because any contract can choose that symbol.
function acceptsToken({ tokens }: CoinConfig, { tokenOut, pricing }: Paid): boolean {
  return tokens.some(({ symbol, address }) =>
    address === undefined ? pricing.listedToken?.symbol === symbol : address === tokenOut.address,
  )
}

export interface LegacyDeps {
  readonly payments: Pick<PaymentReads, 'transaction'>
  readonly accounts: Pick<AccountStore, 'find' | 'findByAddress'>
  /** Confirmations until final, by chain, overriding docs/interface.md 8; null: never. */
  readonly confirmations?: Confirmations | undefined
  /** Largest extra fee in basis points of the gross amount, 0 to 10000. @default 100 */
  readonly maxExtraFeeBps?: number | undefined
}

export function createLegacyQueries({ payments, accounts, confirmations, maxExtraFeeBps }: LegacyDeps) {
  const finality = createFinality(confirmations)
  const allowsFees = createExtraFeeCheck(maxExtraFeeBps)

  /** Whether a payment off the chain may still return: it is not dropped, and its height is not final but can be. */
  function mayBeReincluded(payment: StoredPayment, indexedTo: number | null): boolean {
    const canBeFinal = finality.confirmations(payment.chainId) !== null
    return payment.dropped === null && canBeFinal && !finality.isFinal(payment, indexedTo)
  }

  /** Reads the payments on the chain, and those off the chain that `mayShow` accepts. */
  async function readTransaction({ chainId, txHash }: PaymentSelector, mayShow: typeof mayBeReincluded) {
    const { payments: stored, indexedTo } = await payments.transaction({ chainId, txHash })
    const shown = stored.filter((payment) => !payment.offChain || mayShow(payment, indexedTo))
    if (shown.length === 0) throw new TransactionNotFoundError()
    return shown.map((payment) => {
      const invoice = deriveInvoice(payment)
      return { payment, invoice, item: buildLegacyPayment(payment, invoice, finality.isFinal(payment, indexedTo)) }
    })
  }

  return {
    /**
     * All payments of a transaction. Parameters are the raw strings of the path.
     * @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; TransactionNotFoundError
     * `ERR_TRANSACTION_NOT_FOUND`.
     */
    async lookup(query: { readonly chainId: string; readonly txHash: string }): Promise<Lookup> {
      const key = parseTransactionKey(query)
      const shown = await readTransaction(key, mayBeReincluded)
      return { ...key, payments: shown.map(({ item }) => item) }
    },
    /**
     * All payments of a transaction, each compared with an invoice. `verified` is true when all of them match. Payments
     * off the chain are left out; extra fees above the limit are `Invalid payment amount`. A decimal given as a number
     * counts as its shortest text; `parseVerifyRequest` returns the exact text of the body.
     * @throws InvalidLegacyRequestError, TransactionNotFoundError As `lookup`.
     */
    async verify(input: VerifyRequest): Promise<{ readonly verified: boolean; readonly result: VerifyResponse }> {
      const request = checkVerifyRequest(input)
      const { chainId, txHash } = request
      // Only payments that are on the chain now, because goods are handed over for them.
      const shown = await readTransaction(request, () => false)
      const payee = await resolvePayee(accounts, request.address)
      const judged = shown.map(({ payment, invoice, item }) => {
        // An unknown invoice matches none.
        const hasInvoiceAmount = invoice !== null && isSameDecimal(invoice.amount, request.invoiceAmount)
        const matches: Readonly<Record<VerificationError, boolean>> = {
          'Payment does not match link configuration': payee.accepts(payment),
          'Invalid payment address': payee.received(payment),
          'Invalid payment currency': invoice?.currency === request.invoiceCurrency,
          'Invalid payment amount': hasInvoiceAmount && allowsFees(payment.tokenOut),
        }
        // In the order of docs/interface.md 4.3.
        const errors = verificationErrors.filter((error) => !matches[error])
        return { ...item, verified: errors.length === 0, verificationErrors: errors }
      })
      return { verified: judged.every(({ verified }) => verified), result: { chainId, txHash, payments: judged } }
    },
  }
}
