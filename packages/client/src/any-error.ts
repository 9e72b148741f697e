/** The union of all errors, for a `switch` over `code`. @module */
import {
  type AbortedError,
  type AmbiguousPaymentError,
  type ClientErrorCode,
  type InvalidRequestError,
  type InvalidResponseError,
  type NetworkError,
  nameByCode,
  type PaymentNotFoundError,
  type RateLimitedError,
  type ServiceUnavailableError,
  type TimeoutError,
  type UnauthorizedError,
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

/** Every error of every client of this package: a `switch` over `code` narrows it. */
export type AnyClientError =
  | AbortedError
  | AmbiguousPaymentError
  | IdentityMisconfiguredError
  | IdentityUnavailableError
  | InvalidLegacyRequestError
  | InvalidRequestError
  | InvalidResponseError
  | InvalidShareRequestError
  | NetworkError
  | PaymentNotFoundError
  | RateLimitedError
  | ServiceUnavailableError
  | ShareTokenRejectedError
  | SharingDisabledError
  | TimeoutError
  | TransactionNotFoundError
  | UnauthorizedError
  | VerificationFailedError
  | VerificationUnavailableError

/**
 * Recognizes an error of this package's clients by `code` and `name`. This works even when two copies of the package
 * are installed.
 * @example
 * import { isClientError } from '@payment-integration/client'
 * const isWorthRetrying = (error: unknown): boolean => isClientError(error) && error.retryable
 */
export function isClientError(error: unknown): error is AnyClientError {
  // Not `instanceof`: test runners create errors in another realm.
  if (Object.prototype.toString.call(error) !== '[object Error]') return false
  const { code, name } = error as { code?: unknown; name: string }
  return typeof code === 'string' && Object.hasOwn(nameByCode, code) && nameByCode[code as ClientErrorCode] === name
}
