/** Receives deliveries in Cloudflare Workers. @module */
import { type FetchRequest, serveFetch } from './fetch.js'
import type { WebResponse } from './handler-options.js'
import { type HandlerOptions, type HandlerSettings, resolveSettings } from './handler-options.js'

/** The used part of the execution context. */
export interface WorkerContextLike {
  waitUntil(work: Promise<unknown>): void
}

/** The `fetch` of a Worker. */
export type WorkerHandler<Env> = (request: FetchRequest, env: Env, context: WorkerContextLike) => Promise<WebResponse>

/**
 * Creates the `fetch` of a Worker. Work that misses the deadline goes on under `waitUntil`.
 * @param options - The options, or a function that makes them from the bindings, called once per set of bindings.
 * @throws {TypeError | RangeError} When an option is unusable: at once, or for a function at the first request.
 * @example
 * import { createVerifier } from '@payment-integration/webhook'
 * import { createWorkerHandler } from '@payment-integration/webhook/worker'
 * const fetch = createWorkerHandler(({ secrets }: { secrets: string }) => {
 *   const { verify } = createVerifier({ secrets })
 *   return { receive: async (delivery) => console.log((await verify(delivery)).snapshot.state) }
 * })
 * export default { fetch }
 */
export function createWorkerHandler<Env extends object>(
  options: HandlerOptions | ((env: Env) => HandlerOptions),
): WorkerHandler<Env> {
  const getSettings = typeof options === 'function' ? resolveOncePerEnv(options) : always(resolveSettings(options))
  return async (request, env, context) =>
    serveFetch(request, getSettings(env), 'Let other code read request.clone().', (work) => context.waitUntil(work))
}

function always(settings: HandlerSettings): () => HandlerSettings {
  return () => settings
}

function resolveOncePerEnv<Env extends object>(make: (env: Env) => HandlerOptions): (env: Env) => HandlerSettings {
  const cache = new WeakMap<Env, HandlerSettings>()
  return (env) => {
    const settings = cache.get(env) ?? resolveSettings(make(env))
    cache.set(env, settings)
    return settings
  }
}
