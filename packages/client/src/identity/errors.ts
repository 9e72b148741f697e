/** What only a call of `identity.share` can end in. Source: docs/interface.md 7 (share endpoint); docs/decisions/identity-provider.md. @module */
import type { FormerVerdict } from '@payment-integration/contract'
import { ClientError } from '../errors.js'

/** 400. The service refused the request: most likely the e-mail address, of which only the outline is checked here. Source: docs/interface.md 7. */
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
    super('Sharing identity verifications is not enabled on this environment (404). Ask whoever runs the service.')
  }
}

/** 409. The user has a verification that this integration did not share, whatever its status. Nothing was redeemed. Source: docs/interface.md 3, 7. */
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

/** 422. The provider rejected the token: it is expired or used, the applicant is not approved, or the levels share no step. Source: docs/interface.md 7. */
export class ShareTokenRejectedError extends ClientError {
  override readonly name = 'ShareTokenRejectedError'
  readonly code = 'ERR_SHARE_TOKEN_REJECTED'
  /** The same token fails again. A fresh one may not, unless the former verdict is final. */
  readonly retryable = false
  /**
   * The provider's description, then the former verdict with its labels, if there is one. Verbatim but for `[hidden]`, which stands for the token, the
   * e-mail address and the API secret where it names them. It may hold an id of the token: it is for you, and not for the user.
   */
  readonly providerMessage: string
  /**
   * The rejection of what this integration shared before for the user; null when there is none. `rejectType` is `FINAL`: stop, and mint no token
   * again. `RETRY`: let the user correct it, then mint a fresh token. Null: the provider did not say.
   */
  readonly formerVerdict: FormerVerdict | null
  /** @param providerMessage - Without the token, the e-mail address and the API secret. */
  constructor(providerMessage: string, formerVerdict: FormerVerdict | null) {
    const advice =
      formerVerdict?.rejectType === 'FINAL'
        ? 'What was shared before for this user was rejected for good: stop, and mint no token again.'
        : 'Mint a fresh token and share that: it lands on the same account.'
    // The description is not repeated here: a message ends up in logs, line by line.
    super(`The identity provider rejected the share token (422); read providerMessage. ${advice}`)
    this.providerMessage = providerMessage
    this.formerVerdict = formerVerdict
  }
}

/** 503 for the provider's sake, after the retries: it is down, slow or throttles. Source: docs/decisions/identity.md. */
export class IdentityUnavailableError extends ClientError {
  override readonly name = 'IdentityUnavailableError'
  readonly code = 'ERR_IDENTITY_UNAVAILABLE'
  /** Also with the same token: nothing is redeemed twice. */
  readonly retryable = true
  /** What `Retry-After` asked for, in whole seconds from the answer, or null when it said nothing. */
  readonly retryAfterSeconds: number | null
  constructor(retryAfterSeconds: number | null) {
    const wait = retryAfterSeconds === null ? 'later' : `in ${retryAfterSeconds} s`
    super(`The identity provider cannot answer (503). Share the same again ${wait}: nothing is redeemed twice.`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** 502. The provider refuses the service itself, so whoever runs the service must act. Source: docs/decisions/identity.md. */
export class IdentityMisconfiguredError extends ClientError {
  override readonly name = 'IdentityMisconfiguredError'
  readonly code = 'ERR_IDENTITY_MISCONFIGURED'
  readonly retryable = false
  constructor() {
    super('The identity provider refuses the service itself (502). Tell whoever runs the service.')
  }
}
