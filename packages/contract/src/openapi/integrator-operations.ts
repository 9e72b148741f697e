/** The operations and the notification of an integrator. Source: docs/interface.md 2, 4, 6, 7. @module */
import {
  identityMisconfiguredBody,
  identityUnavailableBody,
  notFoundBody,
  sharingDisabledBody,
  tooManyRequestsBody,
  verificationUnavailableBody,
} from '../error-bodies.js'
import { deliveryStreamPath, streamEvents } from '../internal-endpoints.js'
import {
  deliveryTimeoutMs,
  integrationHeader,
  jsonContentType,
  paths,
  signatureHeader,
  signatureToleranceSeconds,
} from '../wire.js'
import * as examples from './examples.js'
import type { Operation, Parameter, PathItem } from './parts.js'
import {
  answer,
  asIntegration,
  cursor,
  errorAnswer,
  jsonAnswer,
  lastEventId,
  limit,
  operation,
  parameterHead,
  requestBody,
  retryAfter,
  since,
  txHash,
  wallet,
  withoutCredentials,
} from './parts.js'

const paging =
  'Paging is stable while new payments arrive. To reconcile, page newest first until you reach a payment that you have already stored. Chain id and transaction hash identify a payment.'

const listAnswers = {
  200: jsonAnswer('A page of payments.', 'Page', { page: ['The last page', examples.page] }),
  400: 'InvalidList',
  401: 'IntegrationUnauthorized',
} as const
const singleAnswers = {
  200: jsonAnswer('The payment.', 'Payment', { payment: ['A payment', examples.payment] }),
  400: 'InvalidKey',
  401: 'IntegrationUnauthorized',
  404: 'PaymentNotFound',
  409: 'PaymentAmbiguous',
} as const

type Parts = Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters'>

function get(responses: typeof listAnswers | typeof singleAnswers, parts: Parts): PathItem {
  return { get: operation({ ...parts, tags: ['Payments'], security: asIntegration, responses }) }
}

export const paymentOperations = {
  [paths.payments]: get(listAnswers, {
    operationId: 'listPayments',
    summary: 'List payments',
    description: `All payments that name the integration of the caller, newest first. ${paging}`,
    parameters: [limit, cursor],
  }),
  [paths.payment]: get(singleAnswers, {
    operationId: 'getPayment',
    summary: 'Get a payment',
    description: 'One payment of the integration, by its destination transaction hash.',
    parameters: [txHash],
  }),
  [paths.walletPayments]: get(listAnswers, {
    operationId: 'listWalletPayments',
    summary: 'List payments of a wallet',
    description: `The payments of the integration that one wallet sent or received, newest first. ${paging}`,
    parameters: [wallet, limit, cursor],
  }),
  [paths.walletPayment]: get(singleAnswers, {
    operationId: 'getWalletPayment',
    summary: 'Get a payment of a wallet',
    description:
      'One payment of the integration that the wallet sent or received, by its destination transaction hash.',
    parameters: [wallet, txHash],
  }),
}

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
      requestBody: requestBody(
        'The user and the token, at most 16 KB. Unknown fields are ignored; a repeated field is rejected.',
        'ShareRequest',
        { request: ['A user and a token', examples.shareRequest] },
      ),
      responses: {
        200: jsonAnswer('The status of the verification.', 'ShareResponse', {
          begun: ['The token was redeemed', examples.shareBegun],
          approved: ['Already approved; no token was redeemed', examples.shareApproved],
          concurrent: ['Another request is redeeming; this one redeemed no token', examples.shareConcurrent],
          rejected: ['The token was redeemed, and the verification is rejected', examples.shareReviewRejected],
        }),
        400: jsonAnswer(
          'The request is malformed: for example, `email` is not a valid address, `kycShareToken` is empty, or the content type is not `application/json` (optionally with a charset of UTF-8).',
          'ErrorBody',
          {
            email: ['An invalid address', { error: 'email must be a valid email address' }],
            token: ['An empty token', { error: 'kycShareToken must be a non-empty string' }],
            type: ['Another content type', { error: 'Content-Type must be application/json' }],
          },
        ),
        401: 'IntegrationUnauthorized',
        404: errorAnswer('Sharing is not enabled on this environment.', sharingDisabledBody.error),
        409: jsonAnswer(
          'The user has a verification that the caller did not share. The body is the same for every status of that verification.',
          'VerificationUnavailableBody',
          {
            unavailable: ['Not shared by the caller', verificationUnavailableBody],
          },
        ),
        413: 'TooLarge',
        422: jsonAnswer(
          'The provider rejected the redemption: the token is expired or used, the applicant is not approved, or the two levels have no step in common. ' +
            'Retry with a freshly minted token; its verification is attached to the same account. If an earlier verification of this user that the caller shared was rejected, `message` ends with that verdict. After `FINAL`, stop.',
          'ShareRejectedBody',
          {
            rejected: ['An expired token', examples.shareRejected],
            final: ['A used token, after a rejection', examples.shareRejectedFinally],
          },
        ),
        502: errorAnswer(
          'The provider rejects the service itself, for example its credentials. An operator must act; a retry does not help.',
          identityMisconfiguredBody.error,
        ),
        503: jsonAnswer(
          'The provider or the service is temporarily unavailable. Send the same request again: no token is redeemed twice.',
          'ErrorBody',
          {
            provider: ['The provider is unavailable', identityUnavailableBody],
            service: ['The service is unavailable', { error: 'Service temporarily unavailable' }],
          },
          retryAfter,
        ),
      },
    }),
  },
}

const delivery = {
  headers: {
    'Content-Type': jsonContentType,
    [integrationHeader]: examples.snapshot.integrationAddress,
    [signatureHeader]: `t=1767323045,v1=${'0f'.repeat(32)}`,
  },
  body: btoa(JSON.stringify({ ...examples.snapshot, recipient: null })),
  chainId: examples.snapshot.chainId,
  txHash: examples.snapshot.txHash,
  version: examples.snapshot.version,
  createdAt: '2026-01-02T03:04:05.000Z',
}

const example = [
  [streamEvents.ready, 'AzQx', { resumed: false, notifies: true }],
  [streamEvents.live, 'AzQx', {}],
  [streamEvents.delivery, 'AzQy', delivery],
]
  .map(([event, id, data]) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  .join('')

export const streamOperations: Readonly<Record<string, PathItem>> = {
  [deliveryStreamPath]: {
    get: operation({
      operationId: 'streamDeliveries',
      tags: ['Notifications'],
      summary: 'Stream the deliveries of the integration',
      description:
        'Server-sent events for a receiver without a public address. The stream has every delivery of the integration that is stored after its start, at least once. It changes no delivery: the service still posts each one to the notification URL. The answer ends when the credentials are no longer valid, or when the service stops; connect again with `Last-Event-ID`.\n\n' +
        '- `ready` is the first event. `resumed`: whether the stream goes on after `Last-Event-ID`. `notifies`: whether the integration has a notification URL; without one there are no deliveries.\n' +
        '- `delivery`: `body` has the bytes of the notification in base64. `headers` are to be sent with them; the signature was made when the event was sent. `chainId`, `txHash` and `version` name the snapshot. `createdAt` is its time, or null.\n' +
        '- `live`: the backlog is sent. Its data is an empty object.\n' +
        '- A comment keeps a silent connection open.',
      security: asIntegration,
      parameters: [lastEventId, since],
      responses: {
        200: answer(
          'The events, without an end.',
          { 'text/event-stream': { schema: { type: 'string', examples: [example] } } },
          { 'X-Accel-Buffering': 'NoBuffering' },
        ),
        400: errorAnswer(
          '`Last-Event-ID` or `since` is invalid, or the request has a body.',
          'Last-Event-ID must be the id of an event of this stream, unchanged',
        ),
        401: 'IntegrationUnauthorized',
        404: errorAnswer('Streams are not enabled on this environment.', notFoundBody.error),
        429: errorAnswer(
          'Five streams of the integration, or 100 of the process, are open. Or a rate limit of the operator is exceeded.',
          tooManyRequestsBody.error,
          retryAfter,
        ),
      },
    }),
  },
}

const signature: Parameter = {
  ...parameterHead('header', signatureHeader, true),
  description: `Verify it before anything else. \`v1\` is the HMAC-SHA256, in lowercase hex, of the value of \`t\`, a dot and the raw body bytes, keyed with the webhook signing secret. Ignore unknown fields, compare in constant time, and reject a \`t\` that differs by more than ${signatureToleranceSeconds} seconds from your clock.`,
  schema: { type: 'string', pattern: '^t=[0-9]+,v1=[0-9a-f]{64}(,[^,=]+=[^,]*)*$' },
  example: `t=1790000000,v1=${'0'.repeat(64)}`,
}

const integration: Parameter = {
  ...parameterHead('header', integrationHeader, true),
  description: 'The integration that the delivery is for, lowercased: a hint for choosing the secret, not a proof.',
  schema: { type: 'string', pattern: '^0x[0-9a-f]{40}$' },
  example: `0x${'1'.repeat(40)}`,
}

export const webhooks: Readonly<Record<string, PathItem>> = {
  paymentSnapshot: {
    post: {
      operationId: 'receivePaymentSnapshot',
      tags: ['Notifications'],
      summary: 'A payment was indexed, or its state or merchant data changed',
      description:
        'Sent to the notification URL of the integration. Deliveries are unordered and can repeat: store the version per payment, and drop a delivery whose version is not greater than the stored one. A delivery only shows that a payment named the integration. It proves no sale: compare it with your own records before you credit anything.',
      security: withoutCredentials,
      parameters: [signature, integration],
      requestBody: requestBody('A full snapshot. Every field is always present; some may be null.', 'Snapshot', {
        snapshot: ['A payment succeeded', examples.snapshot],
      }),
      responses: {
        '2XX': { description: `Success, if the answer arrives within ${deliveryTimeoutMs / 1_000} seconds.` },
        410: { description: 'The service gives up the delivery: no retry follows.' },
        default: {
          description:
            'Any other answer is recorded as a failure, and the delivery is retried for about three days. Redirects are not followed. `Retry-After` is honoured up to one hour.',
        },
      },
    },
  },
}
