/** The OpenAPI document of the service, made from the schemas of this package. @module */

import { identityOperations, paymentOperations, streamOperations, webhooks } from './integrator-operations.js'
import { healthOperations, legacyOperations, processorOperations } from './other-operations.js'
import { responseHeaders, securitySchemes, sharedResponses } from './parts.js'
import { componentSchemas } from './schemas.js'
import type { OpenApiDocument, PathItem } from './types.js'

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
  /**
   * Base address of the service; a relative one is resolved against the document's own.
   * @default './', beside the document
   */
  readonly serverUrl?: string | undefined
}

/**
 * Builds the OpenAPI 3.1 document of the service's endpoints, with the notification as a webhook. Endpoints for
 * development alone, metrics, pages and the identity provider's webhook are not in it. It is
 * plain JSON data, made to be serialized and not to be changed.
 *
 * @throws {TypeError} When `version` or `serverUrl` is empty.
 * @example const text = JSON.stringify(openApiDocument({ version: '0.1.0' }))
 */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
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
    paths: templated({
      ...paymentOperations,
      ...identityOperations,
      ...legacyOperations,
      ...processorOperations,
      ...healthOperations,
      ...streamOperations,
    }),
    webhooks,
    components: {
      schemas: componentSchemas(),
      responses: sharedResponses,
      headers: responseHeaders,
      securitySchemes,
    },
  }
}

/** `/a/:name` becomes `/a/{name}`. */
function templated(items: Readonly<Record<string, PathItem>>): Record<string, PathItem> {
  return Object.fromEntries(Object.entries(items).map(([path, item]) => [path.replaceAll(/:(\w+)/g, '{$1}'), item]))
}
