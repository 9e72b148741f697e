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
        'Redeems a share token of the identity provider, so that the verification is attached to the account of the e-mail address, or to a placeholder that becomes the user’s once the user proves the address. ' +
        'The answer is the same whether or not there was an account. A verification that is approved or in flight is answered and nothing is redeemed; after a rejection a fresh token is redeemed again. ' +
        'Of requests at the same time one redeems, and a repeated request redeems nothing twice. The verdict comes from the provider some minutes after the redemption. To ask for it, send the redeemed token again: it answers an approval or what is in flight, and after a rejection a 422 with the verdict in `message`.',
      security: asIntegration,
      requestBody: {
        description: 'The user and the token, in at most 16 KB. Further fields are ignored; none may be there twice.',
        required: true,
        content: json('ShareRequest', { request: { summary: 'A user and a token', value: shareRequest } }),
      },
      responses: {
        200: answer(
          'Where the verification stands.',
          json('ShareResponse', {
            begun: { summary: 'The token was redeemed', value: shareBegun },
            approved: { summary: 'Approved before; nothing was redeemed', value: shareApproved },
            concurrent: {
              summary: 'Another request is redeeming; nothing was redeemed by this one',
              value: shareConcurrent,
            },
            rejected: {
              summary: 'The token was redeemed, and the verification is rejected',
              value: shareRejectedAgain,
            },
          }),
        ),
        400: answer(
          'The request is malformed: for example, `email` is not a valid address, `kycShareToken` is empty, or the content type is not `application/json` (a charset of UTF-8 may follow).',
          json('ErrorBody', {
            email: { summary: 'Not an address', value: { error: 'email must be a valid email address' } },
            token: { summary: 'An empty token', value: { error: 'kycShareToken must be a non-empty string' } },
            type: { summary: 'Another content type', value: { error: 'Content-Type must be application/json' } },
          }),
        ),
        401: 'IntegrationUnauthorized',
        404: errorAnswer('Sharing is not enabled on this environment.', sharingDisabledBody.error),
        409: answer(
          'The user has a verification that the caller did not share. The body is the same whatever its status.',
          json('KycUnavailableBody', {
            unavailable: { summary: 'Not shared by the caller', value: kycUnavailableBody },
          }),
        ),
        413: 'TooLarge',
        422: answer(
          'The provider rejected the redemption: the token is expired or used, the applicant is not approved, or the two levels have no step in common. ' +
            'Retry with a freshly minted token; it lands on the same account. `message` ends with the former verdict when the caller shared a verification of this user that was rejected: after `FINAL`, stop.',
          json('ShareRejectedBody', {
            rejected: { summary: 'An expired token', value: shareRejected },
            final: { summary: 'A used token, after a rejection', value: shareRejectedFinally },
          }),
        ),
        502: errorAnswer(
          'The provider refuses the service itself. An operator must act; a repeated request does not help.',
          identityMisconfiguredBody.error,
        ),
        503: answer(
          'The provider, or the service, cannot answer just now. Send the same request again: nothing is redeemed twice.',
          json('ErrorBody', {
            provider: { summary: 'The provider cannot answer', value: identityUnavailableBody },
            service: { summary: 'The service cannot answer', value: { error: 'Service temporarily unavailable' } },
          }),
          { 'Retry-After': headerRef('RetryAfter') },
        ),
      },
    }),
  },
}
