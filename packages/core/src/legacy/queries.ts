/** The legacy endpoints, after authentication. Source: docs/interface.md 4.3. @module */
import {
  type CoinConfig,
  finality,
  type Lookup,
  type VerificationError,
  type Verify,
  type VerifyRequest,
  verificationErrors,
} from '@payment-integration/contract'
import { TransactionNotFoundError } from '../errors.js'
import {
  formatUnits,
  insertDecimalPoint,
  type PriceFeedFacts,
  parseMemo,
  type StoredPayment,
} from '../payments/payment.js'
import type { PaymentReads, StoredTransaction } from '../payments/payment-store.js'
import { assertWhole, lowercaseAddress } from '../values.js'
import { parseHandle } from './accounts.js'
import type { AccountRecord, AccountStore } from './legacy-store.js'
import {
  computeFees,
  createFeeCheck,
  deriveInvoice,
  type Fee,
  type FeeCheck,
  formatConversion,
  isSameDecimal,
  type PaymentInvoice,
} from './pricing.js'
import {
  type CheckedVerifyRequest,
  checkVerifyRequest,
  parseTransactionKey,
  type TransactionKey,
} from './verify-request.js'

export interface LegacyQueries {
  /**
   * All payments of a transaction. Parameters are the raw strings of the path.
   * @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; TransactionNotFoundError
   * `ERR_TRANSACTION_NOT_FOUND`.
   */
  lookup(query: { readonly chainId: string; readonly txHash: string }): Promise<Lookup>
  /**
   * All payments of a transaction, each verified against an invoice. `verified` is true when all of them match.
   * Payments off the chain are left out; extra fees above the limit are `Invalid payment amount`. A decimal given as a
   * number counts as its shortest text; `parseVerifyRequest` returns the exact text of the body.
   *
   * @throws InvalidLegacyRequestError `ERR_LEGACY_REQUEST_INVALID`; TransactionNotFoundError
   * `ERR_TRANSACTION_NOT_FOUND`.
   */
  verify(request: VerifyRequest): Promise<{ readonly verified: boolean; readonly result: Verify }>
}

/** Confirmations until a block is final, by chain; null: never. */
export type Confirmations = Readonly<Record<number, number | null>>

interface FinalityRule {
  /** Whether a block is final when its chain is indexed up to a height; null: not indexed. */
  isFinal(block: { readonly chainId: number; readonly blockNumber: number }, indexedTo: number | null): boolean
  /** Whether the blocks of a chain can become final at all. */
  canBeFinal(chainId: number): boolean
  /** Confirmations until a block is final; null: never. */
  confirmations(chainId: number): number | null
}

/**
 * The host's configuration comes before the table of docs/interface.md 8; a chain in neither is never final. The
 * checkpoint counts as the head: it is on the same branch as the payments.
 */
export function createFinality(configured: Confirmations = {}): FinalityRule {
  const confirmations = new Map<string, number | null>()
  for (const [chainId, row] of Object.entries(finality)) confirmations.set(chainId, row.confirmations)
  for (const [chainId, blocks] of Object.entries(configured)) {
    if (blocks !== null) assertWhole(`confirmations of chain ${chainId}`, blocks, 0)
    confirmations.set(chainId, blocks)
  }
  const blocksOn = (chainId: number) => confirmations.get(String(chainId)) ?? null
  return {
    isFinal({ chainId, blockNumber }, indexedTo) {
      const blocks = blocksOn(chainId)
      return blocks !== null && indexedTo !== null && blockNumber + blocks <= indexedTo
    },
    canBeFinal: (chainId) => blocksOn(chainId) !== null,
    confirmations: blocksOn,
  }
}

type Paid = Pick<StoredPayment, 'chainId' | 'receiver' | 'tokenOut' | 'pricing'>

interface Payee {
  /** Whether a link configuration accepts the payment's token on its chain, at this payee. */
  accepts(payment: Paid): boolean
  received(payment: Paid): boolean
}

/** Resolves an address, else the handle of an account, in any case. */
async function resolvePayee(accounts: Pick<AccountStore, 'find' | 'findByAddress'>, text: string): Promise<Payee> {
  const address = lowercaseAddress(text)
  if (address !== null) return buildAddressPayee(address, await accounts.findByAddress(address))
  const handle = parseHandle(text)
  const account = handle === null ? null : await accounts.find(handle)
  return account === null ? unknownPayee : buildAccountPayee(account)
}

/** An address. The configurations of its accounts decide; without an account every listed token is accepted. */
function buildAddressPayee(address: string, accounts: readonly AccountRecord[]): Payee {
  return {
    received: ({ receiver }) => receiver === address,
    accepts: (payment) =>
      accounts.length === 0
        ? payment.pricing.listedToken !== null
        : accounts.some((account) => isAcceptedBy(account, payment, address)),
  }
}

function buildAccountPayee(account: AccountRecord): Payee {
  return {
    received: ({ chainId, receiver }) => receiver === findReceiver(account, findCoin(account, chainId)),
    accepts: (payment) => isAcceptedBy(account, payment, payment.receiver),
  }
}

/** An unknown handle has neither a configuration to violate nor an address that receives. */
const unknownPayee: Payee = { received: () => false, accepts: () => true }

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
  /** The payment's own invoice, or null when it is unknown: then it matches none. */
  readonly invoice: PaymentInvoice | null
  readonly allowsFees: FeeCheck
  readonly request: Pick<CheckedVerifyRequest, 'invoiceAmount' | 'invoiceCurrency'>
}

/** The messages in the order of docs/interface.md 4.3; none when the payment matches. */
function findMismatches(
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

type LegacyPayment = Lookup['payments'][number]

/** Builds the item field by field from facts of the chain alone, never integration, state or merchant data. */
function buildLegacyPayment(
  payment: StoredPayment,
  { invoice, final }: { readonly invoice: PaymentInvoice | null; readonly final: boolean },
): LegacyPayment {
  const { tokenOut, pricing } = payment
  const { decimals } = tokenOut
  const fees = computeFees(payment)
  return {
    memo: parseMemo(payment.memoHex),
    receiver: payment.receiver,
    tokenSymbol: tokenOut.symbol ?? '',
    tokenAmount: formatAmount(tokenOut.gross, decimals),
    tokenAmountNet: formatAmount(tokenOut.net, decimals),
    totalFees: formatAmount(fees.total, decimals),
    fees: fees.parts.map((fee) => formatFee(fee, decimals)),
    invoiceAmount: invoice?.amount ?? '',
    invoiceCurrency: invoice?.currency ?? '',
    conversion: formatConversion(pricing),
    priceFeeds: pricing.feeds.map(formatPriceFeed),
    final,
  }
}

function formatAmount(units: bigint, decimals: number) {
  const value = units.toString()
  return { formatted: insertDecimalPoint(value, decimals), value }
}

function formatFee({ type, value }: Fee, decimals: number): LegacyPayment['fees'][number] {
  const { formatted, value: units } = formatAmount(value, decimals)
  return { type, formatted, value: units }
}

function formatPriceFeed({ pair, contract, rate, decimals }: PriceFeedFacts): LegacyPayment['priceFeeds'][number] {
  return {
    name: pair === null ? '' : `${pair.base}${pair.quote}`,
    contract: contract ?? '',
    rate: formatUnits(rate, decimals),
  }
}

export interface LegacyDeps {
  readonly payments: Pick<PaymentReads, 'transaction'>
  readonly accounts: Pick<AccountStore, 'find' | 'findByAddress'>
  /** Confirmations until final, by chain, besides the table of docs/interface.md 8; null: never. */
  readonly confirmations?: Confirmations | undefined
  /** Largest extra fee in basis points of the gross amount, 0 to 10000. @default defaultMaxExtraFeeBps */
  readonly maxExtraFeeBps?: number | undefined
}

export function createLegacyQueries(deps: LegacyDeps): LegacyQueries {
  const { payments, accounts, confirmations, maxExtraFeeBps } = deps
  const { isFinal, canBeFinal } = createFinality(confirmations)
  const allowsFees = createFeeCheck(maxExtraFeeBps)

  /** Not once the payment is dropped, or its height is final, or no height of the chain ever is. */
  function mayBeReincluded(payment: StoredPayment, indexedTo: number | null): boolean {
    return payment.dropped === null && canBeFinal(payment.chainId) && !isFinal(payment, indexedTo)
  }

  /** The payments on the chain, and those off the chain that `shows` accepts. */
  async function readTransaction(
    { chainId, txHash }: TransactionKey,
    shows: typeof mayBeReincluded,
  ): Promise<StoredTransaction> {
    const transaction = await payments.transaction({ chainId, txHash })
    const { indexedTo } = transaction
    const shown = transaction.payments.filter((payment) => !payment.offChain || shows(payment, indexedTo))
    if (shown.length === 0) throw new TransactionNotFoundError()
    return { payments: shown, indexedTo }
  }

  function buildItems({ payments, indexedTo }: StoredTransaction) {
    return payments.map((payment) => {
      const invoice = deriveInvoice(payment)
      const item = buildLegacyPayment(payment, { invoice, final: isFinal(payment, indexedTo) })
      return { payment, invoice, item }
    })
  }

  return {
    async lookup(query) {
      const key = parseTransactionKey(query)
      const shown = buildItems(await readTransaction(key, mayBeReincluded))
      return { chainId: key.chainId, txHash: key.txHash, payments: shown.map(({ item }) => item) }
    },
    async verify(input) {
      const request = checkVerifyRequest(input)
      const { chainId, txHash } = request
      // Goods are handed over for payments on the chain now.
      const transaction = await readTransaction(request, () => false)
      const payee = await resolvePayee(accounts, request.address)
      const judged = buildItems(transaction).map(({ payment, invoice, item }) => {
        const verificationErrors = findMismatches(payment, { payee, invoice, allowsFees, request })
        return { ...item, verified: verificationErrors.length === 0, verificationErrors }
      })
      return { verified: judged.every(({ verified }) => verified), result: { chainId, txHash, payments: judged } }
    },
  }
}
