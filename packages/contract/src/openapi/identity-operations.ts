/**
 * Sharing an identity verification. Source: docs/interface.md 2.5, 3 (KYC attachment), 4.2, 7;
 * docs/decisions/identity-provider.md.
 * @module
 */
import {
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
  sharingDisabledBody,
} from '../errors.js'
import { paths } from '../paths.js'
import {
  shareApproved,
  shareBegun,
  shareConcurrent,
  shareRejected,
  shareRejectedAgain,
  shareRejectedFinally,
  shareRequest,
} from './examples.js'
import { operation } from './operation.js'
import { headerRef, json } from './references.js'
import { answer, errorAnswer } from './responses.js'
import { asIntegration } from './security.js'
import type { PathItem } from './types.js'

/** The one endpoint, by path. */
export const identityOperations: Readonly<Record<string, PathItem>> = {
  [paths.shareToken]: {
    post: operation({
      operationId: 'shareVerification',
      tags: ['Identity'],
      summary: 'Share the identity verification of a user',
      description:
        'Redeems a share token of the identity provider. The verification is attached to the account of the e-mail address, or, without one, to a placeholder. The user gets the placeholder by proving the address. ' +
        'The answer is the same with and without an account. While a verification is approved or in flight, the answer is its status, and no token is redeemed. After a rejection a fresh token is redeemed. ' +
        'Of concurrent requests one redeems its token, and a repeated request redeems no token twice. The verdict of the provider follows some minutes after the redemption. To poll it, send the redeemed token again. The answer is 200 while the verification is in flight or approved, and after a rejection 422 with the verdict in `message`.',
      security: asIntegration,
      requestBody: {
        description: 'The user and the token, at most 16 KB. Unknown fields are ignored; a repeated field is rejected.',
        required: true,
        content: json('ShareRequest', { request: { summary: 'A user and a token', value: shareRequest } }),
      },
      responses: {
        200: answer(
          'The status of the verification.',
          json('ShareResponse', {
            begun: { summary: 'The token was redeemed', value: shareBegun },
            approved: { summary: 'Already approved; no token was redeemed', value: shareApproved },
            concurrent: {
              summary: 'Another request is redeeming; this one redeemed no token',
              value: shareConcurrent,
            },
            rejected: {
              summary: 'The token was redeemed, and the verification is rejected',
              value: shareRejectedAgain,
            },
          }),
        ),
        400: answer(
          'The request is malformed: for example, `email` is not a valid address, `kycShareToken` is empty, or the content type is not `application/json` (optionally with a charset of UTF-8).',
          json('ErrorBody', {
            email: { summary: 'An invalid address', value: { error: 'email must be a valid email address' } },
            token: { summary: 'An empty token', value: { error: 'kycShareToken must be a non-empty string' } },
            type: { summary: 'Another content type', value: { error: 'Content-Type must be application/json' } },
          }),
        ),
        401: 'IntegrationUnauthorized',
        404: errorAnswer('Sharing is not enabled on this environment.', sharingDisabledBody.error),
        409: answer(
          'The user has a verification that the caller did not share. The body is the same for every status of that verification.',
          json('KycUnavailableBody', {
            unavailable: { summary: 'Not shared by the caller', value: kycUnavailableBody },
          }),
        ),
        413: 'TooLarge',
        422: answer(
          'The provider rejected the redemption: the token is expired or used, the applicant is not approved, or the two levels have no step in common. ' +
            'Retry with a freshly minted token; its verification is attached to the same account. If an earlier verification of this user that the caller shared was rejected, `message` ends with that verdict. After `FINAL`, stop.',
          json('ShareRejectedBody', {
            rejected: { summary: 'An expired token', value: shareRejected },
            final: { summary: 'A used token, after a rejection', value: shareRejectedFinally },
          }),
        ),
        502: errorAnswer(
          'The provider rejects the service itself, for example its credentials. An operator must act; a retry does not help.',
          identityMisconfiguredBody.error,
        ),
        503: answer(
          'The provider or the service is temporarily unavailable. Send the same request again: no token is redeemed twice.',
          json('ErrorBody', {
            provider: { summary: 'The provider is unavailable', value: identityUnavailableBody },
            service: { summary: 'The service is unavailable', value: { error: 'Service temporarily unavailable' } },
          }),
          { 'Retry-After': headerRef('RetryAfter') },
        ),
      },
    }),
  },
}
