/**
 * Errors of every call. Source: docs/interface.md 5, 7.
 * An error holds only the fields listed here: no request, response, header, body or `cause`. So logging one cannot show
 * a secret.
 * @module
 */

/** The name of the error that has each code. */
export const nameByCode = {
  ERR_UNAUTHORIZED: 'UnauthorizedError',
  ERR_REQUEST_INVALID: 'InvalidRequestError',
  ERR_PAYMENT_NOT_FOUND: 'PaymentNotFoundError',
  ERR_PAYMENT_AMBIGUOUS: 'AmbiguousPaymentError',
  ERR_SHARE_REQUEST_INVALID: 'InvalidShareRequestError',
  ERR_SHARING_DISABLED: 'SharingDisabledError',
  ERR_VERIFICATION_UNAVAILABLE: 'VerificationUnavailableError',
  ERR_SHARE_TOKEN_REJECTED: 'ShareTokenRejectedError',
  ERR_IDENTITY_UNAVAILABLE: 'IdentityUnavailableError',
  ERR_IDENTITY_MISCONFIGURED: 'IdentityMisconfiguredError',
  ERR_LEGACY_REQUEST_INVALID: 'InvalidLegacyRequestError',
  ERR_TRANSACTION_NOT_FOUND: 'TransactionNotFoundError',
  ERR_VERIFICATION_FAILED: 'VerificationFailedError',
  ERR_RATE_LIMITED: 'RateLimitedError',
  ERR_SERVICE_UNAVAILABLE: 'ServiceUnavailableError',
  ERR_NETWORK: 'NetworkError',
  ERR_TIMEOUT: 'TimeoutError',
  ERR_ABORTED: 'AbortedError',
  ERR_RESPONSE_INVALID: 'InvalidResponseError',
} as const

/** Every code of this package; `docs/errors.md` has their causes and cures. */
export type ClientErrorCode = keyof typeof nameByCode

/** Base of every error that a call rejects with. `retryable`: the same call may succeed later, unchanged. */
export abstract class ClientError extends Error {
  abstract readonly code: ClientErrorCode
  abstract readonly retryable: boolean
}

/**
 * 401. The answer is the same for an unknown address, a wrong secret, a disabled integration and one without a secret.
 * It is the same for every rejected API key too. Source: docs/interface.md 4.3, 5 rule 3.
 */
export class UnauthorizedError extends ClientError {
  override readonly name = 'UnauthorizedError'
  readonly code = 'ERR_UNAUTHORIZED'
  readonly retryable = false
  /** @param optionNames - Which options hold the credentials, in words; never their values. */
  constructor(optionNames: string) {
    super(
      `The service rejected the credentials (401). Check ${optionNames}; quotes of an environment file are no part of a secret.`,
    )
  }
}

/** 400. The service rejected a cursor of another list, or a `limit` above its maximum. Source: docs/interface.md 7. */
export class InvalidRequestError extends ClientError {
  override readonly name = 'InvalidRequestError'
  readonly code = 'ERR_REQUEST_INVALID'
  readonly retryable = false
  /** The largest `limit` that the service accepts, or null when it rejected another parameter. */
  readonly maxLimit: number | null
  constructor(maxLimit: number | null) {
    super(
      maxLimit === null
        ? 'The service rejected a parameter (400). Pass a cursor exactly as nextCursor gave it, to the same list.'
        : `The service rejected the limit (400). Ask for at most ${maxLimit} payments per page.`,
    )
    this.maxLimit = maxLimit
  }
}

/** 404. The integration has no such payment. Source: docs/interface.md 4.1, 7. */
export class PaymentNotFoundError extends ClientError {
  override readonly name = 'PaymentNotFoundError'
  readonly code = 'ERR_PAYMENT_NOT_FOUND'
  readonly retryable = false
  readonly txHash: string
  /** The wallet that the call was narrowed to, or null. */
  readonly wallet: string | null
  constructor(txHash: string, wallet: string | null) {
    const scope = wallet === null ? 'this integration' : `wallet ${wallet} in this integration`
    super(`There is no payment ${txHash} for ${scope} (404). Look up the destination transaction, not the source one.`)
    this.txHash = txHash
    this.wallet = wallet
  }
}

/** 409. The hash is indexed on more than one destination chain. Source: docs/interface.md 4.1, 7. */
export class AmbiguousPaymentError extends ClientError {
  override readonly name = 'AmbiguousPaymentError'
  readonly code = 'ERR_PAYMENT_AMBIGUOUS'
  readonly retryable = false
  readonly txHash: string
  /** The wallet that the call was narrowed to, or null. */
  readonly wallet: string | null
  constructor(txHash: string, wallet: string | null) {
    const advice =
      wallet === null
        ? `Narrow it with client.wallet(address).get('${txHash}').`
        : `Find it with client.wallet('${wallet}').iterate() and compare chainId.`
    super(`Transaction ${txHash} is indexed on more than one destination chain (409). ${advice}`)
    this.txHash = txHash
    this.wallet = wallet
  }
}

/** 429, after the retries. Source: docs/decisions/rate-limits.md. */
export class RateLimitedError extends ClientError {
  override readonly name = 'RateLimitedError'
  readonly code = 'ERR_RATE_LIMITED'
  readonly retryable = true
  /** The `Retry-After` of the answer in whole seconds, or null when absent. */
  readonly retryAfterSeconds: number | null
  constructor(retryAfterSeconds: number | null) {
    const wait = retryAfterSeconds === null ? 'later' : `in ${retryAfterSeconds} s`
    super(`The service limits the rate of requests (429). Try again ${wait}.`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A status of 500 or more, after the retries (502, 503 and 504 are retried). */
export class ServiceUnavailableError extends ClientError {
  override readonly name = 'ServiceUnavailableError'
  readonly code = 'ERR_SERVICE_UNAVAILABLE'
  readonly retryable = true
  readonly status: number
  /** The `Retry-After` of the answer in whole seconds, or null when absent. */
  readonly retryAfterSeconds: number | null
  constructor(status: number, retryAfterSeconds: number | null) {
    const wait = retryAfterSeconds === null ? 'later' : `in ${retryAfterSeconds} s`
    super(`The service could not answer (${status}). Try again ${wait}.`)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** After the retries: no answer arrived, or the connection broke during the answer. */
export class NetworkError extends ClientError {
  override readonly name = 'NetworkError'
  readonly code = 'ERR_NETWORK'
  readonly retryable = true
  /** The error code of the operating system or of `fetch`, such as `ECONNREFUSED`; null when there is none. */
  readonly reason: string | null
  /** @param detail - The messages of the failure, without secrets; null for none. */
  constructor(reason: string | null, detail: string | null = null) {
    const facts = (reason === null ? '' : ` (${reason})`) + (detail === null ? '' : `: ${detail.replace(/\.$/, '')}`)
    super(`The connection to the service failed${facts}. Check baseUrl and the network, then try again.`)
    this.reason = reason
  }
}

/** The last attempt or the whole call took too long. */
export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError'
  readonly code = 'ERR_TIMEOUT'
  readonly retryable = true
  /** `try`: `timeoutMs` passed in the last attempt. `total`: `totalTimeoutMs` passed over all attempts and waits. */
  readonly scope: 'try' | 'total'
  readonly timeoutMs: number
  constructor(scope: 'try' | 'total', timeoutMs: number) {
    const option = scope === 'try' ? 'timeoutMs' : 'totalTimeoutMs'
    super(`The service did not answer within ${timeoutMs} ms (${option}). Try again, or allow more time.`)
    this.scope = scope
    this.timeoutMs = timeoutMs
  }
}

/** The caller's signal aborted. */
export class AbortedError extends ClientError {
  override readonly name = 'AbortedError'
  readonly code = 'ERR_ABORTED'
  readonly retryable = false
  constructor() {
    super("The call was aborted by the caller's signal.")
  }
}

/** The cause and the cure of each reason to reject an answer. */
const explanations = {
  not_json: () => 'the body is not UTF-8 JSON. Check that baseUrl is the service and not a proxy or a login page.',
  schema: (field) => `${field} is missing or malformed. Update this package, or check that baseUrl is the service.`,
  unknown_field: (field) => `${field} is no field of the contract, and the client is strict. Update this package.`,
  unknown_value: (field) =>
    `${field} has a value that the contract does not name, and the client is strict. Update this package.`,
  too_large: () => 'the body is longer than maxResponseBytes. Ask for fewer payments per page, or allow more.',
  redirect: () => 'redirects are not followed, as they would carry the credentials. Set baseUrl to the target.',
  status: () => 'the contract has no such status with such a body. Check baseUrl and any proxy before the service.',
  mismatch: (field) => `${field} does not match the request. Check for a cache or proxy that mixes up answers.`,
  contradiction: (field) =>
    `${field} does not fit the status, so nothing counts as verified. Report it to the operator of the service.`,
  repeated_secret: () => 'the body holds the API key. Look for a proxy that echoes requests, and replace the key.',
  repeated_cursor: () => 'nextCursor repeats, so the list would never end.',
  no_progress: () => 'pages bring nothing older, so the list would never end.',
} satisfies Record<string, (field: string) => string>

/** The answer breaks the contract. The error omits the answer's content. Source: docs/interface.md 2.1, 2.2, 2.4. */
export class InvalidResponseError extends ClientError {
  override readonly name = 'InvalidResponseError'
  readonly code = 'ERR_RESPONSE_INVALID'
  readonly retryable = false
  /**
   * - `not_json`: the body is not UTF-8 JSON.
   * - `schema`: a field is missing or malformed, see `path`.
   * - `unknown_field`, `unknown_value`: the contract does not name the field or value at `path`. Only with `strict`.
   * - `too_large`: the body is longer than `maxResponseBytes`.
   * - `redirect`: redirects are not followed.
   * - `status`: the contract has no such status, or none with such a body.
   * - `mismatch`: another payment, transaction, integration or wallet than requested, or too many payments, see `path`.
   * - `contradiction`: status and payments contradict each other.
   * - `repeated_secret`: the rejection repeats the API key, so this error replaces it.
   * - `repeated_cursor`: a cursor came twice, so the list never ends.
   * - `no_progress`: 100 pages in a row held no older payment.
   */
  readonly reason: keyof typeof explanations
  readonly status: number
  /** The field at fault, such as `payments.3.txHash`, or null. */
  readonly path: string | null
  constructor(reason: keyof typeof explanations, status: number, path: string | null = null) {
    super(`The answer is not one of the payment service (${status}): ${explanations[reason](path || 'the body')}`)
    this.reason = reason
    this.status = status
    this.path = path
  }
}
