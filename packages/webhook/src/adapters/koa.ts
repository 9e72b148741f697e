/** Receives deliveries in Koa. @module */
import { type HandlerOptions, resolveSettings } from './handler-options.js'
import { answer } from './internal/answer.js'
import type { NodeRequest } from './node.js'
import { adaptRequest, drain, type ParsedRequest } from './node.js'

/** The used part of Koa's context. */
export interface KoaContextLike {
  readonly req: NodeRequest
  readonly request: object
  status: number
  body: unknown
  set(name: string, value: string): unknown
}

/**
 * Creates a middleware that answers every request it is given. Choose by path first, and place it above `bodyParser()`.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createKoaHandler } from '@payment-integration/webhook/koa'
 * import Koa from 'koa'
 * import { receive } from './receive.js'
 * const deliveries = createKoaHandler({ receive })
 * new Koa().use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next())).listen(4000)
 */
export function createKoaHandler(options: HandlerOptions): (ctx: KoaContextLike) => Promise<void> {
  const settings = resolveSettings(options)
  return async (ctx) => {
    const adapted = adaptRequest(ctx.req, [ctx.request as ParsedRequest, ctx.req], cure)
    const { status, headers, body } = await answer(adapted, settings)
    drain(ctx.req, settings.deadlineMs)
    ctx.status = status
    ctx.body = body === '' ? null : body
    for (const [name, value] of Object.entries(headers)) ctx.set(name, value)
  }
}

const cure = 'Place createKoaHandler before app.use(bodyParser()), or set ctx.disableBodyParser = true on its path.'
