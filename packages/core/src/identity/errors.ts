/** The errors of sharing. Source: docs/interface.md 7. @module */
import {
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
} from '@payment-integration/contract/internal'
import { CoreError, defaultRetryAfterMs } from '../errors.js'
import type { Review } from '../ports/identity.js'

/** The body of the request is malformed. Answer 400. */
export class InvalidShareRequestError extends CoreError {
  override readonly name = 'InvalidShareRequestError'
  readonly code = 'ERR_SHARE_REQUEST_INVALID'
  readonly retryable = false
}

/** The user has a verification that the caller did not share. Answer 409, the same whatever its status. */
export class VerificationUnavailableError extends CoreError {
  override readonly name = 'VerificationUnavailableError'
  readonly code = 'ERR_VERIFICATION_UNAVAILABLE'
  readonly retryable = false
  constructor() {
    super(kycUnavailableBody.error)
  }
}

/** The provider rejected the token. Answer 422 with the provider's description and the former verdict as `message`. */
export class ShareTokenRejectedError extends CoreError {
  override readonly name = 'ShareTokenRejectedError'
  readonly code = 'ERR_SHARE_TOKEN_REJECTED'
  readonly retryable = false
  /** May contain the id of the token: for the integrator, never for a log. */
  readonly providerMessage: string
  /** The rejected review of this integration's earlier share for the same address; null when there is none. */
  readonly formerReview: Review | null
  constructor(providerMessage: string, formerReview: Review | null = null) {
    super('The identity provider rejected the share token; read message')
    this.providerMessage = providerMessage
    this.formerReview = formerReview
  }
}

/** The provider is down, slow or throttles. Answer 503: the client may retry. */
export class IdentityUnavailableError extends CoreError {
  override readonly name = 'IdentityUnavailableError'
  readonly code = 'ERR_IDENTITY_UNAVAILABLE'
  readonly retryable = true
  /** How long to wait, in milliseconds. */
  readonly retryAfterMs: number
  constructor(retryAfterMs: number = defaultRetryAfterMs) {
    super(identityUnavailableBody.error)
    this.retryAfterMs = retryAfterMs
  }
}

/** The provider rejects this service's own credentials or set-up. Answer 502: an operator must act. */
export class IdentityMisconfiguredError extends CoreError {
  override readonly name = 'IdentityMisconfiguredError'
  readonly code = 'ERR_IDENTITY_MISCONFIGURED'
  readonly retryable = false
  constructor() {
    super(identityMisconfiguredBody.error)
  }
}

/** The e-mail address was not proven. Answer 403. */
export class EmailProofError extends CoreError {
  override readonly name = 'EmailProofError'
  readonly code = 'ERR_EMAIL_PROOF'
  readonly retryable = false
  constructor() {
    super('The e-mail address was not proven')
  }
}
