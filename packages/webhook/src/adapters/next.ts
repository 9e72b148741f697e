/** Receives deliveries in Next: a route of the app router, or an API route of the pages router. @module */
import { createFetchHandler, type FetchHandler } from './fetch.js'
import type { HandlerOptions } from './handler-options.js'
import { type NodeHandler, serveNode } from './node.js'

/**
 * Creates the `POST` of `app/webhook/route.ts`. Next itself answers other methods with 405.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createNextRoute } from '@payment-integration/webhook/next'
 * import { receive } from './receive.js'
 * export const POST = createNextRoute({ receive })
 */
export function createNextRoute(options: HandlerOptions): FetchHandler {
  return createFetchHandler(options)
}

/**
 * Creates the default export of `pages/api/webhook.ts`. The same file must switch Next's parser off, literally: `export
 * const config = { api: { bodyParser: false } }`.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createNextApi } from '@payment-integration/webhook/next'
 * import { receive } from './receive.js'
 * export const config = { api: { bodyParser: false } }
 * export default createNextApi({ receive })
 */
export function createNextApi(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Add to the file of this route: export const config = { api: { bodyParser: false } }')
}
