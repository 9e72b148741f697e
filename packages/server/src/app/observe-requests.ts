/** Gives every request an id, and reports how it ended. Source: docs/observability.md. @module */
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { withRequestId } from '../logging/request-context.js'
import type { AppEnv } from './app-env.js'
import { requestIdHeader, requestIdOf } from './request-id.js'

/** An answered request: no path, no query, nothing that names a caller. */
export interface ObservedRequest {
  /** `GET`, `HEAD`, `POST`, `OPTIONS` or `other`. */
  readonly method: string
  /** Pattern of the route, or `none`. */
  readonly route: string
  readonly status: number
  /** Time until the answer's headers, in milliseconds. */
  readonly ms: number
}

/** Receives answered requests. */
export type RequestObserver = (request: ObservedRequest) => void

/** Pages for people: one route each. */
const pageRoutes = ['/console', '/portal'] as const

const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/**
 * Wraps the first middleware, which must not throw: a separate one would cost a tenth of a look-up.
 * @param now - A clock that never goes back, in milliseconds.
 */
export function observeRequests(
  first: MiddlewareHandler<AppEnv>,
  { observers, now }: { readonly observers: readonly RequestObserver[]; readonly now: () => number },
): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const requestId = requestIdOf(c.req.header(requestIdHeader))
    return withRequestId(requestId, async () => {
      const startedAt = now()
      const refusal = await first(c, next)
      const answer = refusal ?? c.res
      answer.headers.set(requestIdHeader, requestId)
      if (observers.length === 0) return refusal
      const { method } = c.req
      const request = {
        method: methods.has(method) ? method : 'other',
        route: routeOf(routePath(c, -1)),
        status: answer.status,
        ms: now() - startedAt,
      }
      for (const observe of observers) observe(request)
      return refusal
    })
  }
}

function routeOf(path: string): string {
  const pages = pageRoutes.find((each) => path === each || path.startsWith(`${each}/`))
  if (pages !== undefined) return pages
  // A wildcard middleware is no route.
  return path.includes('*') ? 'none' : path
}
