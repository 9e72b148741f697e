/** Shares a user's identity verification. Source: docs/interface.md 3 (KYC attachment), 4.2, 7. @module */
import {
  createReader,
  emailPattern,
  errorBodySchema,
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
  openShareResponseSchema,
  paths,
  readFormerVerdict,
  type ShareRequest,
  shareRejectedBodySchema,
  shareRequestLimits,
} from '@payment-integration/contract'
import type { CallOptions } from '../call-options.js'
import { checkSignal, checkText } from '../internal/check.js'
import { hideTexts } from '../internal/hide-texts.js'
import { refusalOfMissing, refusalWithBody, refusalWithText } from '../internal/refusals.js'
import type { Requester } from '../internal/request.js'
import {
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  InvalidShareRequestError,
  ShareTokenRejectedError,
  SharingDisabledError,
  VerificationUnavailableError,
} from './errors.js'
import { readShareResult, type ShareResult } from './result.js'

const shareResponseReader = /* @__PURE__ */ createReader(openShareResponseSchema)

/** Shares identity verifications. */
export interface IdentitySharer {
  /**
   * Shares the verification of one user: sends a share token that was minted for the service, and resolves the status.
   *
   * Like every call it is retried, and it may be repeated after any error: the service redeems a token once and finds
   * the earlier redemption. It rejects with an error of {@link AnyShareError}. A malformed argument is a TypeError or
   * RangeError before any request.
   * @param request - `email`: the user's address in any spelling. `kycShareToken`: the provider's single-use token,
   * verbatim, up to 4096 characters.
   * @throws {@link ShareTokenRejectedError} `ERR_SHARE_TOKEN_REJECTED`: mint a fresh token, unless `formerVerdict` is
   * final.
   * @throws {@link VerificationUnavailableError} `ERR_VERIFICATION_UNAVAILABLE`.
   * @throws {@link SharingDisabledError} `ERR_SHARING_DISABLED`.
   * @throws {@link IdentityUnavailableError} `ERR_IDENTITY_UNAVAILABLE`: share the same token again.
   * @throws {@link IdentityMisconfiguredError} `ERR_IDENTITY_MISCONFIGURED`.
   * @throws {@link InvalidShareRequestError} `ERR_INVALID_SHARE_REQUEST`.
   * @example
   * const shared = await client.identity.share({ email: 'user@shop.example', kycShareToken })
   * if (shared.kind === 'rejected' && shared.canRetry) console.log(shared.labels)
   */
  share(request: ShareRequest, options?: CallOptions): Promise<ShareResult>
}

/** @param credentials - Texts that no error may show, even if the provider's message repeats them. */
export function identitySharer(credentials: readonly string[], request: Requester): IdentitySharer {
  return {
    async share(submission, { signal } = {}) {
      const json = checkSubmission(submission)
      const secrets = [json.kycShareToken, json.email, ...credentials]
      const response = await request({
        path: paths.shareToken,
        json,
        schema: shareResponseReader,
        secrets,
        refusals: {
          400: refusalWithBody(errorBodySchema, () => new InvalidShareRequestError()),
          404: refusalOfMissing(() => new SharingDisabledError()),
          409: refusalWithText(kycUnavailableBody.error, () => new VerificationUnavailableError()),
          422: refusalWithBody(
            shareRejectedBodySchema,
            ({ message }) => new ShareTokenRejectedError(hideTexts(message, secrets), readFormerVerdict(message)),
          ),
          502: refusalWithText(identityMisconfiguredBody.error, () => new IdentityMisconfiguredError()),
          503: refusalWithText(
            identityUnavailableBody.error,
            (retryAfterSeconds) => new IdentityUnavailableError(retryAfterSeconds),
          ),
        },
        signal: checkSignal(signal),
      })
      return readShareResult(response)
    },
  }
}

/** Picks the two fields and checks them. */
function checkSubmission(value: ShareRequest): Readonly<Record<'email' | 'kycShareToken', string>> {
  if (typeof value !== 'object' || value === null)
    throw new TypeError('share expects an object with email and kycShareToken.')
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
