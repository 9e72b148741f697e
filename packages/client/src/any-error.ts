/** Unions of all errors, for a `switch` over `code`. @module */
import type {
  AbortedError,
  AmbiguousPaymentError,
  InvalidRequestError,
  InvalidResponseError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnauthorizedError,
} from './errors.js'
import type {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  ShareTokenRejectedError,
  SharingDisabledError,
  VerificationUnavailableError,
} from './identity/share.js'
import type { InvalidLegacyRequestError, TransactionNotFoundError, VerificationFailedError } from './legacy/client.js'

/** Every error that all calls share. */
export type AnyCallError =
  | UnauthorizedError
  | RateLimitedError
  | ServiceUnavailableError
  | NetworkError
  | TimeoutError
  | AbortedError
  | InvalidResponseError

/** Every error of reading payments. */
export type AnyReadError = AnyCallError | InvalidRequestError | NotFoundError | AmbiguousPaymentError

/** Every error of sharing a verification. */
export type AnyShareError =
  | AnyCallError
  | InvalidShareRequestError
  | SharingDisabledError
  | VerificationUnavailableError
  | ShareTokenRejectedError
  | IdentityUnavailableError
  | IdentityMisconfiguredError

/** Every error of a client from `createLegacyClient`. */
export type AnyLegacyError =
  | AnyCallError
  | InvalidLegacyRequestError
  | TransactionNotFoundError
  | VerificationFailedError

/** Every error of every client of this package. */
export type AnyClientError = AnyReadError | AnyShareError | AnyLegacyError

const nameByCode: Readonly<Record<AnyClientError['code'], string>> = {
  ERR_UNAUTHORIZED: 'UnauthorizedError',
  ERR_INVALID_REQUEST: 'InvalidRequestError',
  ERR_NOT_FOUND: 'NotFoundError',
  ERR_AMBIGUOUS_PAYMENT: 'AmbiguousPaymentError',
  ERR_INVALID_SHARE_REQUEST: 'InvalidShareRequestError',
  ERR_SHARING_DISABLED: 'SharingDisabledError',
  ERR_VERIFICATION_UNAVAILABLE: 'VerificationUnavailableError',
  ERR_SHARE_TOKEN_REJECTED: 'ShareTokenRejectedError',
  ERR_IDENTITY_UNAVAILABLE: 'IdentityUnavailableError',
  ERR_IDENTITY_MISCONFIGURED: 'IdentityMisconfiguredError',
  ERR_INVALID_LEGACY_REQUEST: 'InvalidLegacyRequestError',
  ERR_TRANSACTION_NOT_FOUND: 'TransactionNotFoundError',
  ERR_VERIFICATION_FAILED: 'VerificationFailedError',
  ERR_RATE_LIMITED: 'RateLimitedError',
  ERR_SERVICE_UNAVAILABLE: 'ServiceUnavailableError',
  ERR_NETWORK: 'NetworkError',
  ERR_TIMEOUT: 'TimeoutError',
  ERR_ABORTED: 'AbortedError',
  ERR_INVALID_RESPONSE: 'InvalidResponseError',
}

/**
 * Recognises an error of this package's clients by `code` and `name`. This works even when two copies of the package
 * are installed.
 */
export function isClientError(error: unknown): error is AnyClientError {
  // Not `instanceof`: an error of another realm, as test runners have them, is one too.
  if (Object.prototype.toString.call(error) !== '[object Error]') return false
  const { code, name } = error as { code?: unknown; name: string }
  return (
    typeof code === 'string' && Object.hasOwn(nameByCode, code) && nameByCode[code as AnyClientError['code']] === name
  )
}
