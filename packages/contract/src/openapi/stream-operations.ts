/** The stream of an integration's deliveries. Source: docs/decisions/listen.md. @module */
import { deliveryStreamPath, streamEvents } from '../delivery-stream.js'
import { notFoundBody, tooManyRequestsBody } from '../errors.js'
import { integrationHeader, jsonContentType, signatureHeader } from '../headers.js'
import { snapshot } from './examples.js'
import { operation } from './operation.js'
import { lastEventId, since } from './parameters.js'
import { headerRef } from './references.js'
import { answer, errorAnswer } from './responses.js'
import { asIntegration } from './security.js'
import type { PathItem } from './types.js'

const delivery = {
  headers: {
    'Content-Type': jsonContentType,
    [integrationHeader]: snapshot.integrationAddress,
    [signatureHeader]: `t=1767323045,v1=${'0f'.repeat(32)}`,
  },
  body: btoa(JSON.stringify({ ...snapshot, recipient: null })),
  chainId: snapshot.chainId,
  txHash: snapshot.txHash,
  version: snapshot.version,
  createdAt: '2026-01-02T03:04:05.000Z',
}

const example = [
  [streamEvents.ready, 'AzQx', { resumed: false, notifies: true }],
  [streamEvents.live, 'AzQx', {}],
  [streamEvents.delivery, 'AzQy', delivery],
]
  .map(([event, id, data]) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  .join('')

/** The one endpoint, by path. */
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
          { 'X-Accel-Buffering': headerRef('NoBuffering') },
        ),
        400: errorAnswer('`Last-Event-ID` or `since` is invalid, or the request has a body.', 'Invalid Last-Event-ID'),
        401: 'IntegrationUnauthorized',
        404: errorAnswer('Streams are not enabled on this environment.', notFoundBody.error),
        429: errorAnswer(
          'Five streams of the integration, or 100 of the process, are open. Or a rate limit of the operator is exceeded.',
          tooManyRequestsBody.error,
          { 'Retry-After': headerRef('RetryAfter') },
        ),
      },
    }),
  },
}
