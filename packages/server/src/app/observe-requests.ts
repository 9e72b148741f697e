/** Gives every request an id; observes and logs its end. Source: docs/observability.md. @module */
import { randomUUID } from 'node:crypto'
import { paths } from '@payment-integration/contract'
import type { Clock, Logger } from '@payment-integration/core/ports'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { withRequestId } from '../logging/log.js'
import type { AppEnv } from './requests.js'
import { verdictPath } from './webhook-routes.js'

/** Header of the id, in requests and answers. */
export const requestIdHeader = 'X-Request-Id'

/** The caller's id where it is 1 to 128 visible ASCII characters, else a new UUID, as for a repeated header. */
export function parseRequestId(given: string | null | undefined): string {
  return given && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}

/** An answered request: no path, no query, nothing that names a caller. */
export interface ObservedRequest {
  /** `GET`, `HEAD`, `POST`, `OPTIONS` or `other`. */
  readonly method: string
  /** Pattern of the route, or `none`. */
  readonly route: string
  readonly status: number
  readonly requestId: string
  /** Time until the answer's headers, in milliseconds. */
  readonly ms: number
}

export type RequestObserver = (request: ObservedRequest) => void

/** Builds an observer that logs method, route pattern, status, milliseconds and request id of each request. */
export function createAccessLog(logger: Pick<Logger, 'info'>): RequestObserver {
  return ({ method, route, status, ms, requestId }) =>
    logger.info({ method, route, status, ms: Math.round(ms * 10) / 10, requestId }, 'A request was answered.')
}

/** Prefixes of the pages of operators and integrators. Each prefix counts as one route. */
const pageRoutes = ['/console', '/portal'] as const

/** Routes below these paths run code that logs without the request id: the identity provider's, and the pages'. */
const loggingPaths = [paths.shareToken, verdictPath, ...pageRoutes]
const isLoggingPath = (path: string) => loggingPaths.some((each) => path.startsWith(each))

const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/**
 * Wraps the first middleware, which must not throw: as a separate middleware, this would slow a look-up by a tenth.
 * @param clock - Monotonic, in milliseconds.
 */
export function observeRequests(
  firstMiddleware: MiddlewareHandler<AppEnv>,
  { observers, clock }: { readonly observers: readonly RequestObserver[]; readonly clock: Pick<Clock, 'now'> },
): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    const requestId = parseRequestId(c.req.header(requestIdHeader))
    c.set('requestId', requestId)
    return isLoggingPath(c.req.path) ? withRequestId(requestId, handle) : handle()

    async function handle(): Promise<Response | undefined> {
      const startedAt = clock.now()
      const rejection = (await firstMiddleware(c, next)) ?? undefined
      const answer = rejection ?? c.res
      answer.headers.set(requestIdHeader, requestId)
      if (observers.length === 0) return rejection
      const { method } = c.req
      const request = {
        method: methods.has(method) ? method : 'other',
        route: findRoutePattern(routePath(c, -1)),
        status: answer.status,
        requestId,
        ms: clock.now() - startedAt,
      }
      for (const observe of observers) observe(request)
      return rejection
    }
  }
}

function findRoutePattern(path: string): string {
  const pages = pageRoutes.find((each) => path === each || path.startsWith(`${each}/`))
  if (pages !== undefined) return pages
  // A wildcard middleware is no route.
  return path.includes('*') ? 'none' : path
}
