/**
 * Errors of legacy calls. Source: docs/interface.md 4.3, 7 (legacy errors).
 *
 * Unlike the others, these errors hold text of the answer, which the caller needs. The client first checks that the
 * answer does not repeat the API key.
 * @module
 */
import { type LegacyErrorBody, type Verify, verificationErrors as verdicts } from '@payment-integration/contract'
import { ClientError } from '../errors.js'

/** One flaw of a request: its code, a message, and the names of the parameters. */
export type RequestFlaw = LegacyErrorBody['details'][number]

/** 400. The service rejected one or more parameters. Source: docs/interface.md 4.3. */
export class InvalidLegacyRequestError extends ClientError {
  override readonly name = 'InvalidLegacyRequestError'
  readonly code = 'ERR_INVALID_LEGACY_REQUEST'
  readonly retryable = false
  /** Every flaw that the service found, verbatim: `code`, `message`, and `path`, the names of the parameters. */
  readonly details: readonly RequestFlaw[]
  constructor(details: readonly RequestFlaw[]) {
    super('The service refused the request (400). Read details: each names a parameter in path and says what is wrong.')
    this.details = details
  }
}

/** 404. The service has no payment of this transaction (yet). Source: docs/interface.md 4.3. */
export class TransactionNotFoundError extends ClientError {
  override readonly name = 'TransactionNotFoundError'
  readonly code = 'ERR_TRANSACTION_NOT_FOUND'
  readonly retryable = false
  readonly chainId: number
  readonly txHash: string
  constructor(chainId: number, txHash: string) {
    super(
      `There is no payment in transaction ${txHash} on chain ${chainId} (404). Check both; a new one may take a while.`,
    )
    this.chainId = chainId
    this.txHash = txHash
  }
}

/** 409. At least one payment of the transaction does not match the invoice. Source: docs/interface.md 4.3. */
export class VerificationFailedError extends ClientError {
  override readonly name = 'VerificationFailedError'
  readonly code = 'ERR_VERIFICATION_FAILED'
  readonly retryable = false
  /** The transaction with its payments, each with `verified` and its own `verificationErrors`. */
  readonly result: Verify
  /**
   * The distinct reasons over all payments, at least one, verbatim: `Payment does not match link configuration`,
   * `Invalid payment address`, `Invalid payment currency`, `Invalid payment amount`, or a newer one.
   */
  readonly verificationErrors: readonly string[]
  constructor(result: Verify) {
    const reasons = [...new Set(result.payments.flatMap((payment) => payment.verificationErrors))]
    // The message repeats only texts of the contract, because messages end up in logs, line by line.
    const known = verdicts.filter((verdict) => reasons.includes(verdict))
    const unverified = result.payments.filter(({ verified }) => !verified).length
    super(
      `${unverified} of ${result.payments.length} payments in the transaction do not match the invoice (409)${known.length > 0 ? `: ${known.join(', ')}` : ''}. Do not deliver.`,
    )
    this.result = result
    this.verificationErrors = reasons
  }
}
