/** How sharing a verification can end other than with an answer. Source: INTERFACE 7; DESIGN section 3 (identity provider). @module */
import { identityMisconfiguredBody, identityUnavailableBody, kycUnavailableBody } from '@payment-integration/contract'
import { CoreError } from '../errors.js'

/** The body of the request is malformed. Answer 400. */
export class ShareRequestError extends CoreError {
  override readonly name = 'ShareRequestError'
  readonly code = 'ERR_SHARE_INVALID'
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

/** The provider refused the token. Answer 422 with the provider's words as `message`. */
export class ShareTokenRejectedError extends CoreError {
  override readonly name = 'ShareTokenRejectedError'
  readonly code = 'ERR_SHARE_TOKEN_REJECTED'
  readonly retryable = false
  /** May hold the id of the token: for the integrator, and for no log. */
  readonly providerMessage: string
  constructor(providerMessage: string) {
    super('The identity provider rejected the share token; mint a fresh one and send that')
    this.providerMessage = providerMessage
  }
}

/** The provider is down, slow or throttles. Answer 503: the same request may be sent again. */
export class IdentityUnavailableError extends CoreError {
  override readonly name = 'IdentityUnavailableError'
  readonly code = 'ERR_IDENTITY_UNAVAILABLE'
  readonly retryable = true
  /** How long to wait, in milliseconds. */
  readonly retryAfterMs: number
  constructor(retryAfterMs: number) {
    super(identityUnavailableBody.error)
    this.retryAfterMs = retryAfterMs
  }
}

/** The provider refuses this service itself. Answer 502: an operator must act. */
export class IdentityMisconfiguredError extends CoreError {
  override readonly name = 'IdentityMisconfiguredError'
  readonly code = 'ERR_IDENTITY_MISCONFIGURED'
  readonly retryable = false
  constructor() {
    super(identityMisconfiguredBody.error)
  }
}

/** Nobody proved the e-mail address. Answer 403. */
export class EmailProofError extends CoreError {
  override readonly name = 'EmailProofError'
  readonly code = 'ERR_EMAIL_PROOF'
  readonly retryable = false
  constructor() {
    super('The e-mail address was not proven')
  }
}
