/**
 * Shares a user's identity verification. Source: docs/interface.md 2.5, 3, 4.2, 7; docs/decisions/identity.md.
 * @module
 */
import {
  createSchemaReader,
  errorBodySchema,
  type FormerVerdict,
  type OpenShareResponse,
  openShareResponseSchema,
  parseFormerVerdict,
  paths,
  type ReviewStatus,
  type ShareRequest,
  shareRejectedBodySchema,
  shareRequestLimits,
} from '@payment-integration/contract'
import {
  emailPattern,
  identityMisconfiguredBody,
  identityUnavailableBody,
  verificationUnavailableBody,
} from '@payment-integration/contract/internal'
import { ClientError } from '../errors.js'
import { checkObject, checkSignal, checkText, hideTexts } from '../internal/check.js'
import { type Requester, rejectMissing, rejectWithBody, rejectWithText } from '../internal/request.js'
import type { CallOptions } from '../transport-options.js'

/**
 * 400. The service rejected the request. Most likely the e-mail address is wrong: this client checks it only roughly.
 * Source: docs/interface.md 7.
 */
export class InvalidShareRequestError extends ClientError {
  override readonly name = 'InvalidShareRequestError'
  readonly code = 'ERR_SHARE_REQUEST_INVALID'
  readonly retryable = false
  constructor() {
    super('The service rejected the request (400). Check the e-mail address; the token has the right form.')
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
  /** The same token fails again. A fresh token may succeed, unless the former verdict is final. */
  readonly retryable = false
  /**
   * The provider's description, then the former verdict with its labels, if there is one. It is verbatim, but
   * `[hidden]` replaces the token, the e-mail address and the API secret. It may hold an id of the token, so do not
   * show this text to the user.
   */
  readonly providerMessage: string
  /**
   * The rejection of an earlier verification that this integration shared for the user; null when there is none.
   * After `rejectType` `FINAL`, stop, and mint no further token. After `RETRY`, let the user correct the flaws, then
   * mint a fresh token. After null, the provider gave no type.
   */
  readonly formerVerdict: FormerVerdict | null
  /** @param providerMessage - Without the token, the e-mail address and the API secret. */
  constructor(providerMessage: string, formerVerdict: FormerVerdict | null) {
    const advice =
      formerVerdict?.rejectType === 'FINAL'
        ? 'An earlier verification of this user was rejected for good: stop sharing.'
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
  /** Share the same token again: the service redeems a token only once. */
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
    super('The identity provider rejects the service itself (502). Report it to the operator of the service.')
  }
}

interface ShareFacts {
  /**
   * Whether this request redeemed the token; the contract names it `reused`. When false, the request redeemed nothing.
   * After a retry, an earlier attempt without an answer may have redeemed the token.
   */
  readonly redeemed: boolean
  /** The whole answer, including unknown fields. */
  readonly response: OpenShareResponse
}

type InFlightStatus = Exclude<ReviewStatus, 'not_started' | 'completed'>

/** The result of `identity.share`: switch on `kind`. */
export type ShareResult = ShareFacts &
  (
    | {
        /** The verdict approves the user. */
        readonly kind: 'approved'
      }
    | {
        /** The verdict rejects the user. When a fresh token is shared, the service redeems it. */
        readonly kind: 'rejected'
        /** Whether resubmission can help (`RETRY`); false for `FINAL`, and when the provider gave no type. */
        readonly canRetry: boolean
        /** Reject reasons of the provider, verbatim; may be empty. */
        readonly labels: readonly string[]
      }
    | {
        /** There is no verdict yet. It arrives some minutes after the redemption; share again to poll for it. */
        readonly kind: 'in_flight'
        /** `init`: the provider waits for documents. The others: the provider reviews them. */
        readonly status: InFlightStatus
      }
    | {
        /** Another request is redeeming a token for this user, without an outcome yet. Share again in a moment. */
        readonly kind: 'not_started'
      }
    | {
        /** An unknown status or verdict, which is no approval. `response` holds the unknown text. */
        readonly kind: 'unknown'
      }
  )

/** Parses an answer. `reviewAnswer` counts only when the status is `completed`. */
export function toShareResult(response: OpenShareResponse): ShareResult {
  const { reviewStatus: status, reviewAnswer, rejectType, rejectLabels: labels, reused: redeemed } = response
  const facts = { redeemed, response }
  switch (status) {
    case 'not_started':
      return { kind: 'not_started', ...facts }
    case 'init':
    case 'pending':
    case 'prechecked':
    case 'onHold':
      // The cases make the cast safe: the compiler does not narrow a type that also allows any text.
      return { kind: 'in_flight', status: status as InFlightStatus, ...facts }
    case 'completed':
      if (reviewAnswer === 'GREEN') return { kind: 'approved', ...facts }
      if (reviewAnswer === 'RED') return { kind: 'rejected', canRetry: rejectType === 'RETRY', labels, ...facts }
      return { kind: 'unknown', ...facts }
    default:
      return { kind: 'unknown', ...facts }
  }
}

const shareResponseReader = /* @__PURE__ */ createSchemaReader(openShareResponseSchema)

/** Shares identity verifications. */
export interface IdentitySharer {
  /**
   * Shares the verification of one user: sends a share token that was minted for the service, and resolves with
   * the status. The client retries the call, and you may repeat it after any error: the service redeems a token once
   * and finds the earlier redemption. The call rejects with a {@link ClientError}. A malformed argument is a TypeError
   * or RangeError before any request.
   * @param request - `email`: the user's address in any spelling. `kycShareToken`: the provider's single-use token,
   * verbatim, up to 4096 characters.
   * @throws {@link ShareTokenRejectedError} `ERR_SHARE_TOKEN_REJECTED`: mint a fresh token, unless `formerVerdict` is
   * final.
   * @throws {@link VerificationUnavailableError} `ERR_VERIFICATION_UNAVAILABLE`.
   * @throws {@link SharingDisabledError} `ERR_SHARING_DISABLED`.
   * @throws {@link IdentityUnavailableError} `ERR_IDENTITY_UNAVAILABLE`: share the same token again.
   * @throws {@link IdentityMisconfiguredError} `ERR_IDENTITY_MISCONFIGURED`.
   * @throws {@link InvalidShareRequestError} `ERR_SHARE_REQUEST_INVALID`.
   * @example
   * import { client } from './client.js'
   * const shared = await client.identity.share({ email: 'user@shop.example', kycShareToken: 'eyJhbGciOi…' })
   * if (shared.kind === 'rejected' && shared.canRetry) console.log(shared.labels)
   */
  share(request: ShareRequest, options?: CallOptions): Promise<ShareResult>
}

/** @param credentials - Texts that no error may show, even if the provider's message repeats them. */
export function createIdentitySharer(credentials: readonly string[], request: Requester): IdentitySharer {
  return {
    async share(submission, { signal } = {}) {
      const json = checkSubmission(submission)
      const secrets = [json.kycShareToken, json.email, ...credentials]
      const response = await request({
        path: paths.shareToken,
        json,
        schema: shareResponseReader,
        secrets,
        rejections: {
          400: rejectWithBody(errorBodySchema, () => new InvalidShareRequestError()),
          404: rejectMissing(() => new SharingDisabledError()),
          409: rejectWithText(verificationUnavailableBody.error, () => new VerificationUnavailableError()),
          422: rejectWithBody(
            shareRejectedBodySchema,
            ({ message }) => new ShareTokenRejectedError(hideTexts(message, secrets), parseFormerVerdict(message)),
          ),
          502: rejectWithText(identityMisconfiguredBody.error, () => new IdentityMisconfiguredError()),
          503: rejectWithText(
            identityUnavailableBody.error,
            (retryAfterSeconds) => new IdentityUnavailableError(retryAfterSeconds),
          ),
        },
        signal: checkSignal(signal),
      })
      return toShareResult(response)
    },
  }
}

function checkSubmission(value: ShareRequest): Readonly<Record<'email' | 'kycShareToken', string>> {
  checkObject('share', value, 'email and kycShareToken')
  const { email, kycShareToken } = value
  checkText('email', email)
  if (typeof kycShareToken !== 'string' || kycShareToken.trim() === '')
    throw new TypeError('kycShareToken is missing or blank; mint one at the identity provider and pass it verbatim.')
  if (kycShareToken.length > shareRequestLimits.kycShareToken)
    throw new RangeError(
      `kycShareToken has ${kycShareToken.length} characters; pass a token of ${shareRequestLimits.kycShareToken} at most.`,
    )
  if (email.length > shareRequestLimits.email || !emailPattern.test(email))
    throw new TypeError('email is not an e-mail address; pass one such as user@example.com.')
  return { email, kycShareToken }
}
