/**
 * Errors of `identity.share`. Source: docs/interface.md 7 (share endpoint); docs/decisions/identity-provider.md.
 * @module
 */
import type { FormerVerdict } from '@payment-integration/contract'
import { ClientError } from '../errors.js'

/**
 * 400. The service rejected the request. Most likely the e-mail address is wrong: this client checks only its outline.
 * Source: docs/interface.md 7.
 */
export class InvalidShareRequestError extends ClientError {
  override readonly name = 'InvalidShareRequestError'
  readonly code = 'ERR_INVALID_SHARE_REQUEST'
  readonly retryable = false
  constructor() {
    super(
      'The service refused the request (400). Check the e-mail address: kycShareToken was checked before it was sent.',
    )
  }
}

/** 404. Sharing is not enabled on this environment. Source: docs/interface.md 7. */
export class SharingDisabledError extends ClientError {
  override readonly name = 'SharingDisabledError'
  readonly code = 'ERR_SHARING_DISABLED'
  readonly retryable = false
  constructor() {
    super('Sharing identity verifications is not enabled on this environment (404). Ask the operator of the service.')
  }
}

/**
 * 409. The user has a verification, in any status, that this integration did not share. No token was redeemed.
 * Source: docs/interface.md 3, 7.
 */
export class VerificationUnavailableError extends ClientError {
  override readonly name = 'VerificationUnavailableError'
  readonly code = 'ERR_VERIFICATION_UNAVAILABLE'
  readonly retryable = false
  constructor() {
    super(
      'The user has a verification that this integration did not share (409). Nothing was redeemed, and sharing again does not help.',
    )
  }
}

/**
 * 422. The provider rejected the token: it is expired or used, the applicant is not approved, or the levels share no
 * step. Source: docs/interface.md 7.
 */
export class ShareTokenRejectedError extends ClientError {
  override readonly name = 'ShareTokenRejectedError'
  readonly code = 'ERR_SHARE_TOKEN_REJECTED'
  /** The same token fails again. A fresh one may not, unless the former verdict is final. */
  readonly retryable = false
  /**
   * The provider's description, then the former verdict with its labels, if there is one. It is verbatim, but
   * `[hidden]` replaces the token, the e-mail address and the API secret. It may hold an id of the token: do not show
   * it to the user.
   */
  readonly providerMessage: string
  /**
   * The rejection of an earlier verification that this integration shared for the user; null when there is none. By
   * `rejectType`: `FINAL`: stop, and mint no further token. `RETRY`: let the user correct it, then mint a fresh token.
   * Null: the provider gave no type.
   */
  readonly formerVerdict: FormerVerdict | null
  /** @param providerMessage - Without the token, the e-mail address and the API secret. */
  constructor(providerMessage: string, formerVerdict: FormerVerdict | null) {
    const advice =
      formerVerdict?.rejectType === 'FINAL'
        ? 'What was shared before for this user was rejected for good: stop, and mint no token again.'
        : 'Mint a fresh token and share it: it attaches to the same account.'
    // The message omits the description, because messages end up in logs, line by line.
    super(`The identity provider rejected the share token (422); read providerMessage. ${advice}`)
    this.providerMessage = providerMessage
    this.formerVerdict = formerVerdict
  }
}

/** 503, after the retries: the provider is down, slow or throttles. Source: docs/decisions/identity.md. */
export class IdentityUnavailableError extends ClientError {
  override readonly name = 'IdentityUnavailableError'
  readonly code = 'ERR_IDENTITY_UNAVAILABLE'
  /** True also for the same token: the service redeems a token once. */
  readonly retryable = true
  /** The `Retry-After` of the answer in whole seconds, or null when absent. */
  readonly retryAfterSeconds: number | null
  constructor(retryAfterSeconds: number | null) {
    const wait = retryAfterSeconds === null ? 'later' : `in ${retryAfterSeconds} s`
    super(`The identity provider cannot answer (503). Share the same again ${wait}: nothing is redeemed twice.`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** 502. The provider rejects the service itself, so its operator must act. Source: docs/decisions/identity.md. */
export class IdentityMisconfiguredError extends ClientError {
  override readonly name = 'IdentityMisconfiguredError'
  readonly code = 'ERR_IDENTITY_MISCONFIGURED'
  readonly retryable = false
  constructor() {
    super('The identity provider refuses the service itself (502). Report it to the operator of the service.')
  }
}
