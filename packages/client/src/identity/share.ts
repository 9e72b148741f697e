/** Sharing a user's identity verification. Source: docs/interface.md 3 (KYC attachment), 4.2, 7. @module */
import {
  createReader,
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
  shareRequestSchema,
} from '@payment-integration/contract'
import type { CallOptions } from '../call-options.js'
import { checkSignal, checkText } from '../internal/check.js'
import { hideTexts } from '../internal/hide-texts.js'
import { believe, believeMissing, believeText } from '../internal/refusals.js'
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
   * Shares the verification of one user: hands the service a share token that was minted for it, and resolves where the verification stands.
   *
   * It is tried again like every call, and may be called again after any error: the service redeems a token once and finds what an earlier try
   * redeemed. It ends in one of the errors of {@link AnyShareError}, or in a TypeError or RangeError for a malformed argument, before anything is sent.
   * @param request - `email`: the user's address in any spelling. `kycShareToken`: the provider's single-use token, verbatim, up to 4096 characters.
   * @throws {@link ShareTokenRejectedError} `ERR_SHARE_TOKEN_REJECTED`: mint a fresh token, unless `formerVerdict` is final;
   * {@link VerificationUnavailableError} `ERR_VERIFICATION_UNAVAILABLE`; {@link SharingDisabledError} `ERR_SHARING_DISABLED`;
   * {@link IdentityUnavailableError} `ERR_IDENTITY_UNAVAILABLE`: the same again; {@link IdentityMisconfiguredError} `ERR_IDENTITY_MISCONFIGURED`;
   * {@link InvalidShareRequestError} `ERR_INVALID_SHARE_REQUEST`.
   * @example
   * const shared = await client.identity.share({ email: 'user@shop.example', kycShareToken })
   * if (shared.kind === 'rejected' && shared.canRetry) console.log(shared.labels)
   */
  share(request: ShareRequest, options?: CallOptions): Promise<ShareResult>
}

/** @param credentials - Texts that no error may show, if the provider's words should hold them. */
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
          400: believe(errorBodySchema, () => new InvalidShareRequestError()),
          404: believeMissing(() => new SharingDisabledError()),
          409: believeText(kycUnavailableBody.error, () => new VerificationUnavailableError()),
          422: believe(
            shareRejectedBodySchema,
            ({ message }) => new ShareTokenRejectedError(hideTexts(message, secrets), readFormerVerdict(message)),
          ),
          502: believeText(identityMisconfiguredBody.error, () => new IdentityMisconfiguredError()),
          503: believeText(identityUnavailableBody.error, (retryAfter) => new IdentityUnavailableError(retryAfter())),
        },
        signal: checkSignal(signal),
      })
      return readShareResult(response)
    },
  }
}

/** The two fields and no others. */
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
  if (!shareRequestSchema.safeParse({ email, kycShareToken }).success)
    throw new TypeError('email is not an e-mail address; pass one such as user@example.com.')
  return { email, kycShareToken }
}
