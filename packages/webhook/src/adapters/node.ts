/** Receives deliveries on Node's own server. @module */
import type { HandlerOptions } from './handler-options.js'
import { type NodeHandler, serveNode } from './node-source.js'

/**
 * Makes a listener for `node:http`, `node:https` and `node:http2`; route by path before you call it.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createNodeHandler } from '@payment-integration/webhook/node'
 * import { receive } from './receive.js'
 * createServer(createNodeHandler({ receive })).listen(4000)
 */
export function createNodeHandler(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Call the handler before anything else reads the request.')
}
