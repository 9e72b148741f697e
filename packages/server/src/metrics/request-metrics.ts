/**
 * How long requests take, by the pattern of their route: a path itself would name addresses and transactions.
 * @module
 */
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { AppEnv } from '../app/app-env.js'
import { createRequestDurations } from './request-durations.js'

const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** The metric, and what fills it. */
export interface RequestMetrics {
  /** The same middleware, measured with everything behind it. */
  measured(middleware: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv>
  /** The text format of Prometheus. */
  text(): string
}

/**
 * Builds it.
 * @param now - A clock that never goes back, in milliseconds.
 */
export function requestMetrics(now: () => number): RequestMetrics {
  const durations = createRequestDurations()
  return {
    // Around the one middleware that every request passes: one more of its own costs what a tenth of a look-up costs.
    measured: (middleware) => async (c, next) => {
      const startedAt = now()
      const refusal = await middleware(c, next)
      const { method } = c.req
      const path = routePath(c, -1)
      const labels = {
        method: methods.has(method) ? method : 'other',
        // What everything passes is no route.
        route: path.includes('*') ? 'none' : path,
        status: (refusal ?? c.res).status,
      }
      durations.observe(labels, (now() - startedAt) / 1_000)
      return refusal
    },
    text: durations.text,
  }
}
