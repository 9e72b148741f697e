/** The OpenAPI document of the service, made from the schemas of this package. @module */
import { healthOperations } from './health-operations.js'
import { identityOperations } from './identity-operations.js'
import { description, summary, tags } from './introduction.js'
import { legacyOperations } from './legacy-operations.js'
import { webhooks } from './notification-webhook.js'
import { paymentOperations } from './payment-operations.js'
import { processorOperations } from './processor-operations.js'
import { responseHeaders, sharedResponses } from './responses.js'
import { componentSchemas } from './schemas.js'
import { securitySchemes } from './security.js'
import { streamOperations } from './stream-operations.js'
import type { OpenApiDocument, PathItem } from './types.js'

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
