/** Deliveries in Express 4 and 5. @module */
import type { HandlerOptions } from './handler-options.js'
import { serveNode } from './internal/serve-node.js'
import type { NodeHandler } from './node-types.js'

/**
 * Makes a handler for a route that stands before `express.json()`, or behind a parser that keeps the bytes: `express.raw()`, or
 * `express.json({ verify })` with `request.rawBody` set.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example app.all('/webhook', createExpressHandler({ receive }))
 */
export function createExpressHandler(options: HandlerOptions): NodeHandler {
  return serveNode(
    options,
    'Move this route above app.use(express.json()), or keep the bytes there: express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } }).',
  )
}
