/** Deliveries for a function from `Request` to `Response`: Bun, Deno, SvelteKit, Remix and others. @module */
import type { FetchHandler } from './fetch-source.js'
import { serveFetch } from './fetch-source.js'
import { type HandlerOptions, handlerSettings } from './handler-options.js'

/**
 * Makes a fetch handler.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example Deno.serve(createFetchHandler({ receive }))
 */
export function createFetchHandler(options: HandlerOptions): FetchHandler {
  const settings = handlerSettings(options)
  return (request) => serveFetch(request, settings, 'Let what reads it first read request.clone().')
}
