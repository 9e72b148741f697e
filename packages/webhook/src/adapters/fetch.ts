/** Deliveries for a function from `Request` to `Response`: Bun, Deno, SvelteKit, Remix and others. @module */
import type { FetchHandler } from './fetch-source.js'
import { serveFetch } from './fetch-source.js'
import { type HandlerOptions, handlerSettings } from './handler-options.js'

/**
 * Makes a fetch handler.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createFetchHandler } from '@payment-integration/webhook/fetch'
 * import { receive } from './receive.js'
 * export default { fetch: createFetchHandler({ receive }) } // Bun; in Deno: Deno.serve(handler)
 */
export function createFetchHandler(options: HandlerOptions): FetchHandler {
  const settings = handlerSettings(options)
  return (request) => serveFetch(request, settings, 'Let what reads it first read request.clone().')
}
