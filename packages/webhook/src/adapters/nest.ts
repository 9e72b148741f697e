/** Receives deliveries in Nest on Express. @module */
import type { HandlerOptions } from './handler-options.js'
import { type NodeHandler, serveNode } from './node.js'

/**
 * Creates a handler for `app.use(path, handler)`, which Nest runs before its body parser. A controller's method may
 * call it with its `@Req()` and `@Res()`; create the app with `{ rawBody: true }` then.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { NestFactory } from '@nestjs/core'
 * import { createNestHandler } from '@payment-integration/webhook/nest'
 * import { AppModule, Payments } from './app.module.js'
 * const app = await NestFactory.create(AppModule)
 * app.use('/webhook', createNestHandler({ receive: (delivery) => app.get(Payments).receive(delivery) }))
 */
export function createNestHandler(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Keep the bytes: NestFactory.create(AppModule, { rawBody: true }).')
}
