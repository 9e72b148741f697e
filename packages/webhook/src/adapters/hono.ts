/** Receives deliveries in Hono. @module */
import { type FetchRequest, serveFetch } from './fetch.js'
import type { WebResponse } from './handler-options.js'
import { type HandlerOptions, resolveSettings } from './handler-options.js'

/** The used part of Hono's context. */
export interface HonoContextLike {
  readonly req: { readonly raw: FetchRequest }
}

/**
 * Creates a handler for a route.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createHonoHandler } from '@payment-integration/webhook/hono'
 * import { Hono } from 'hono'
 * import { receive } from './receive.js'
 * export default new Hono().all('/webhook', createHonoHandler({ receive }))
 */
export function createHonoHandler(options: HandlerOptions): (context: HonoContextLike) => Promise<WebResponse> {
  const settings = resolveSettings(options)
  return ({ req }) => serveFetch(req.raw, settings, cure)
}

const cure = 'Mount this route before the middleware that reads the body, or let it read c.req.raw.clone().'
