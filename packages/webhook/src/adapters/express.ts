/** Receives deliveries in Express 4 and 5. @module */
import type { HandlerOptions } from './handler-options.js'
import { type NodeHandler, serveNode } from './node.js'

/**
 * Creates a handler for a route above `express.json()`, or below a parser that keeps the bytes. Such parsers are
 * `express.raw()`, and `express.json({ verify })` that sets `request.rawBody`.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createExpressHandler } from '@payment-integration/webhook/express'
 * import express from 'express'
 * import { receive } from './receive.js'
 * express().all('/webhook', createExpressHandler({ receive })).listen(4000)
 */
export function createExpressHandler(options: HandlerOptions): NodeHandler {
  return serveNode(
    options,
    'Move this route above app.use(express.json()), or keep the bytes there: express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } }).',
  )
}
