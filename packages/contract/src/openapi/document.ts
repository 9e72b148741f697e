/** Makes the OpenAPI document, with legacy, processor and health operations. Source: docs/interface.md 4.3. @module */
import { notFoundBody } from '../error-bodies.js'
import { paths } from '../wire.js'
import * as examples from './examples.js'
import { identityOperations, paymentOperations, streamOperations, webhooks } from './integrator-operations.js'
import {
  errorAnswer,
  jsonAnswer,
  legacyChainId,
  legacyTxHash,
  type OpenApiDocument,
  operation,
  type PathItem,
  requestBody,
  responseHeaders,
  securitySchemes,
  sharedResponses,
  signedByProcessor,
  withLegacyKey,
  withoutCredentials,
} from './parts.js'
import { buildComponentSchemas } from './schemas.js'

const legacyTags = ['Legacy']
const invalid = jsonAnswer(
  'The request is malformed; `details` lists every flaw. Malformed HTTP has no `details`.',
  ['LegacyErrorBody', 'ErrorBody'],
  {
    details: ['An invalid hash', examples.legacyError],
    framing: ['Malformed HTTP', { error: 'Header host is given more than once' }],
  },
)

const legacyOperations: Readonly<Record<string, PathItem>> = {
  [paths.legacyLookup]: {
    get: operation({
      operationId: 'lookUpTransaction',
      tags: legacyTags,
      summary: 'Look up a transaction',
      description: 'All payments of a transaction, with amounts, fees and the conversion of the invoice.',
      security: withLegacyKey,
      parameters: [legacyChainId, legacyTxHash],
      responses: {
        200: jsonAnswer('The payments.', 'Lookup', { lookup: ['One payment', examples.lookup] }),
        400: invalid,
        401: 'LegacyUnauthorized',
        404: 'TransactionNotFound',
      },
    }),
  },
  [paths.legacyVerify]: {
    post: operation({
      operationId: 'verifyTransaction',
      tags: legacyTags,
      summary: 'Look up and verify a transaction',
      description:
        'All payments of a transaction, each compared with an invoice and with the link configuration of the receiver. ' +
        'A payment whose block left the chain is omitted. If the fees of third parties exceed the limit of the service, the error is `Invalid payment amount`.',
      security: withLegacyKey,
      requestBody: requestBody(
        'The invoice as JSON in UTF-8, at most 16 KB. Any content type is accepted, and a request without one too.',
        'VerifyRequest',
        { request: ['An invoice', examples.verifyRequest] },
      ),
      responses: {
        200: jsonAnswer('All payments match.', 'VerifyResponse', { verified: ['Match', examples.verified] }),
        400: invalid,
        401: 'LegacyUnauthorized',
        404: 'TransactionNotFound',
        409: jsonAnswer(
          'At least one payment does not match; `verificationErrors` lists the reasons.',
          'VerifyResponse',
          { different: ['Another amount', examples.notVerified] },
        ),
        413: 'TooLarge',
      },
    }),
  },
}

const processorOperations: Readonly<Record<string, PathItem>> = {
  [paths.processorUpdates]: {
    post: operation({
      operationId: 'applyProcessorUpdate',
      tags: ['Processor'],
      summary: 'Change the state or the merchant data of a payment',
      description:
        'Retry with the same id after 408, 429, 5xx or no answer: the update is applied once. Every update that changes the payment makes a new version and a notification. Several updates in one request are cheaper; the answer is 200 with the result of each.',
      security: signedByProcessor,
      requestBody: requestBody(
        'The update, or up to 100 of them; at most 128 KB. An unknown field is rejected.',
        ['ProcessorUpdate', 'ProcessorUpdates'],
        {
          update: ['A state and a merchant', examples.update],
          updates: ['Several updates', examples.updates],
        },
      ),
      responses: {
        200: jsonAnswer(
          'The update was processed. Each of several updates has its own result.',
          ['UpdateResult', 'UpdateResults'],
          {
            applied: ['It made a new version', examples.updateApplied],
            unchanged: ['It changed nothing', examples.updateUnchanged],
            results: ['Several updates', examples.updateResults],
          },
        ),
        202: jsonAnswer(
          'The payment is not indexed yet. The update is stored, and applied when the payment is indexed.',
          'UpdateResult',
          { waiting: ['The update waits', examples.updateWaiting] },
        ),
        400: errorAnswer('The content is malformed.', 'Body is not UTF-8 JSON'),
        401: 'ProcessorUnauthorized',
        404: errorAnswer('No processor is connected to this service.', notFoundBody.error),
        409: errorAnswer(
          'The id was already used with different content.',
          'Update update-1 was already received with different content; send a change under a new id.',
        ),
        413: errorAnswer('The body is larger than 128 KB.', 'Body is larger than 131072 bytes'),
        415: 'NotJson',
        422: jsonAnswer('A rule forbids the update, for example the order of states.', 'UpdateRejected', {
          rejected: ['A forbidden state', examples.updateRejected],
        }),
      },
    }),
  },
}

const healthTags = ['Health']

const healthOperations: Readonly<Record<string, PathItem>> = {
  '/health': {
    get: operation({
      operationId: 'getHealth',
      tags: healthTags,
      summary: 'Health of the service',
      description:
        'The answer has no data of any integration. Load balancers send requests to this process while the status is 200.',
      security: withoutCredentials,
      isProbe: true,
      responses: {
        200: jsonAnswer('Requests can be served.', 'Health', {
          ok: ['Everything works', examples.healthy],
          degraded: ['A chain cannot be followed', examples.degraded],
        }),
        503: jsonAnswer('Requests cannot be served.', 'Health', {
          down: ['The database does not answer', examples.down],
        }),
      },
    }),
  },
  '/health/live': {
    get: operation({
      operationId: 'getLiveness',
      tags: healthTags,
      summary: 'Liveness of the process',
      description: 'Restart the process when it does not answer here.',
      security: withoutCredentials,
      isProbe: true,
      responses: {
        200: jsonAnswer('The process answers.', 'Liveness', { live: ['The process answers', { status: 'ok' }] }),
      },
    }),
  },
}

const operations = [
  paymentOperations,
  identityOperations,
  legacyOperations,
  processorOperations,
  healthOperations,
  streamOperations,
].flatMap((each) => Object.entries(each))

const summary = 'On-chain payments: read, look up and verify them, and receive a notification of every change.'

/** Rules of all endpoints, in CommonMark. */
const description = `An integration reads the payments that name its address, and receives a signed notification for every change.

## Checks before any endpoint

- Authentication comes first. Under the paths of an API, a request without valid credentials gets 401, whatever else is wrong with it.
- Malformed HTTP gets 400, a request that arrives too slowly 408, and one with too large headers 431. The body is \`{"error": "<message>"}\`, and the request reaches no endpoint.
- An unlisted path gets 404. Exceptions are this document and, if the operator serves it, the page \`/reference\` with its files and the redirects (308) to it from \`/\` and \`/reference/\`.
- A method that is not listed for a path gets 405, and \`Allow\` lists the allowed methods. HEAD gets the answer of GET, without a body.

## Answers

- A newer service may add fields to an answer. Ignore unknown fields.
- Amounts are strings. Do not turn them into floating-point numbers.
- The body of an error is \`{"error": "<message>"}\`. The message is for people; programs decide by the status. A 400 of a legacy endpoint also has \`details\`, except for malformed HTTP.
- 503: try again, after \`Retry-After\` if the answer has it.
- 429: the source or the caller exceeded a rate limit of the operator. Try again after \`Retry-After\`. After too many wrong credentials, every request of the source gets 429, except to the health endpoints.
`

const tags = [
  { name: 'Payments', description: 'The read API of an integration.' },
  { name: 'Identity', description: 'Share the identity verification of a user.' },
  { name: 'Legacy', description: 'Look up a transaction by chain and hash, and verify it against an invoice.' },
  { name: 'Processor', description: 'Signed updates from payment processors.' },
  { name: 'Health', description: 'For operators and load balancers.' },
  { name: 'Notifications', description: 'Deliveries to the notification URL of an integration, and their stream.' },
] as const

/** The parts of the document that depend on the deployment. */
export interface OpenApiOptions {
  /** Version of the service, such as `0.1.0`. */
  readonly version: string
  /** Base address of the service; a relative one is resolved against the document's own. @default './' */
  readonly serverUrl?: string | undefined
}

/**
 * Creates the OpenAPI 3.1 document of the service's endpoints, with the notification as a webhook. Endpoints for
 * development alone, metrics, pages and the identity provider's webhook are not in it. The document is plain JSON data;
 * do not change it.
 * @throws {TypeError} When `version` or `serverUrl` is empty.
 * @example
 * import { createOpenApiDocument } from '@payment-integration/contract/openapi'
 * const text = JSON.stringify(createOpenApiDocument({ version: '0.1.0' }))
 */
export function createOpenApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { version, serverUrl = './' } = options
  if (!version) throw new TypeError('version is empty; pass the version of the service, such as "0.1.0".')
  if (!serverUrl) throw new TypeError('serverUrl is empty; pass the base address of the service, or leave it out.')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment Integration Service',
      version,
      summary,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl, description: 'This service' }],
    tags,
    // `/a/:name` becomes `/a/{name}`.
    paths: Object.fromEntries(operations.map(([path, item]) => [path.replaceAll(/:(\w+)/g, '{$1}'), item])),
    webhooks,
    components: {
      schemas: buildComponentSchemas(),
      responses: sharedResponses,
      headers: responseHeaders,
      securitySchemes,
    },
  }
}
