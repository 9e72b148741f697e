/** The legacy endpoints, after authentication. Source: docs/interface.md 4.3. @module */
import { UnknownTransactionError } from '../errors.js'
import type { StoredPayment } from '../payments/record.js'
import type { AccountStore } from '../ports/store-accounts.js'
import type { PaymentReads, StoredTransaction } from '../ports/store-reads.js'
import type { LegacyQueries } from '../service-types.js'
import { createAllowsFees } from './extra-fee.js'
import { type Confirmations, createFinality } from './finality.js'
import { parseTransactionKey, type TransactionKey } from './parameters.js'
import { resolvePayee } from './payee.js'
import { invoiceOf } from './pricing.js'
import { verifyMessages } from './verify-messages.js'
import { checkVerifyRequest } from './verify-request.js'
import { legacyPayment } from './view.js'

/** The dependencies of the queries. */
export interface LegacyDeps {
  readonly payments: Pick<PaymentReads, 'transaction'>
  readonly accounts: Pick<AccountStore, 'find' | 'findByAddress'>
  /** Confirmations until final, by chain, besides the table of docs/interface.md 8; null: never. */
  readonly confirmations?: Confirmations | undefined
  /** Largest extra fee in basis points of the gross amount, 0 to 10000. @default defaultMaxExtraFeeBps */
  readonly maxExtraFeeBps?: number | undefined
}

/**
 * Builds the queries.
 * @throws RangeError When a number of confirmations is not whole, 0 or more, or the extra fee is out of range.
 */
export function createLegacyQueries(deps: LegacyDeps): LegacyQueries {
  const { payments, accounts, confirmations, maxExtraFeeBps } = deps
  const { isFinal, canBeFinal } = createFinality(confirmations)
  const allowsFees = createAllowsFees(maxExtraFeeBps)

  /**
   * Whether a look-up still shows a payment off the chain. It does not once the payment is dropped, or its height is
   * final, or no height of the chain ever is.
   */
  function mayReturn(payment: StoredPayment, indexedTo: number | null): boolean {
    return payment.dropped === null && canBeFinal(payment.chainId) && !isFinal(payment, indexedTo)
  }

  /** The payments on the chain, and those off the chain that `shows` accepts. */
  async function read({ chainId, txHash }: TransactionKey, shows: typeof mayReturn): Promise<StoredTransaction> {
    const transaction = await payments.transaction({ chainId, txHash })
    const { indexedTo } = transaction
    const shown = transaction.payments.filter((payment) => !payment.offChain || shows(payment, indexedTo))
    if (shown.length === 0) throw new UnknownTransactionError()
    return { payments: shown, indexedTo }
  }

  function show({ payments, indexedTo }: StoredTransaction) {
    return payments.map((payment) => {
      const invoice = invoiceOf(payment)
      const item = legacyPayment(payment, { invoice, final: isFinal(payment, indexedTo) })
      return { payment, invoice, item }
    })
  }

  return {
    async lookup(query) {
      const key = parseTransactionKey(query)
      const shown = show(await read(key, mayReturn))
      return { chainId: key.chainId, txHash: key.txHash, payments: shown.map(({ item }) => item) }
    },
    async verify(given) {
      const request = checkVerifyRequest(given)
      const { chainId, txHash } = request
      // Goods are handed over for payments on the chain now.
      const transaction = await read(request, () => false)
      const payee = await resolvePayee(accounts, request.address)
      const judged = show(transaction).map(({ payment, invoice, item }) => {
        const verificationErrors = verifyMessages(payment, { payee, invoice, allowsFees, request })
        return { ...item, verified: verificationErrors.length === 0, verificationErrors }
      })
      return { verified: judged.every(({ verified }) => verified), result: { chainId, txHash, payments: judged } }
    },
  }
}
