/** Deliveries in Node's own server, in Express 4 and 5, and in Nest on Express. @module */
import type { HandlerOptions } from './handler-options.js'
import { type NodeHandler, serveNode } from './node-source.js'

/**
 * Makes a listener for `node:http`, `node:https` and `node:http2`; choose by path before you call it.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example createServer(createNodeHandler({ receive })).listen(4000)
 */
export function createNodeHandler(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Call the handler before anything else reads the request.')
}

/**
 * Makes a handler for a route above `express.json()`, or below a parser that keeps the bytes. Such parsers are
 * `express.raw()`, and `express.json({ verify })` that sets `request.rawBody`.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example app.all('/webhook', createExpressHandler({ receive }))
 */
export function createExpressHandler(options: HandlerOptions): NodeHandler {
  return serveNode(
    options,
    'Move this route above app.use(express.json()), or keep the bytes there: express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } }).',
  )
}

/**
 * Makes a handler for `app.use(path, handler)`, which Nest runs above its body parser.
 * A controller's method may call it with its `@Req()` and `@Res()`; create the app with `{ rawBody: true }` then.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example app.use('/webhook', createNestHandler({ receive: (delivery) => app.get(Payments).receive(delivery) }))
 */
export function createNestHandler(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Keep the bytes: NestFactory.create(AppModule, { rawBody: true }).')
}
