/** Measures requests by route pattern: a path would name addresses and transactions. @module */
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { AppEnv } from '../app/app-env.js'
import { createRequestDurations } from './request-durations.js'

/** Pages for people: one route each. */
const pageRoutes = ['/console', '/portal'] as const

const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** The metric and its recorder. */
export interface RequestMetrics {
  /** Wraps a middleware and measures it with everything after it. */
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
    // Wraps the one middleware that every request passes: a separate one would cost a tenth of a look-up.
    measured: (middleware) => async (c, next) => {
      const startedAt = now()
      const refusal = await middleware(c, next)
      const { method } = c.req
      const path = routePath(c, -1)
      const labels = {
        method: methods.has(method) ? method : 'other',
        route: routeOf(path),
        status: (refusal ?? c.res).status,
      }
      durations.observe(labels, (now() - startedAt) / 1_000)
      return refusal
    },
    text: durations.text,
  }
}

function routeOf(path: string): string {
  const pages = pageRoutes.find((each) => path === each || path.startsWith(`${each}/`))
  if (pages !== undefined) return pages
  // A wildcard middleware is no route.
  return path.includes('*') ? 'none' : path
}
