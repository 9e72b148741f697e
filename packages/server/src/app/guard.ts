/** Applies limits, then authentication; every failure looks the same. Source: docs/interface.md 5. @module */
import { paths } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context, MiddlewareHandler } from 'hono'
import type { RequestLimits } from '../limits/request-limits.js'
import { answerTooManyRequests, answerUnauthorized } from './answers.js'
import { findArea } from './area.js'
import { healthPaths } from './health.js'
import { type AppEnv, getAuthorization, getRawPath, rejectTwoContentTypes } from './requests.js'

/** Sent with every 401 of the integration API. */
const basicChallenge = 'Basic realm="payment-integration"'

/** Sent with every 401 of the legacy API and of the metrics. A bare key without the scheme is also accepted. */
export const bearerChallenge = 'Bearer realm="payment-integration"'

interface GuardDeps {
  readonly service: Pick<Service, 'authenticate' | 'authenticateLegacy' | 'identity'>
  /** Undefined: nothing is limited. */
  readonly limits: RequestLimits | undefined
  /** The peer address of a request's connection. */
  readonly findPeer: (c: Context<AppEnv>) => string | undefined
  /** Turns a thrown error into an answer, so that the middleware itself never throws. */
  readonly toErrorResponse: (error: unknown, c: Context<AppEnv>) => Response
}

/**
 * Builds the first middleware: limits of the source, then credentials, limits of the caller, and ambiguous headers.
 * An unauthenticated request is never validated.
 */
export function createGuard({ service, limits, findPeer, toErrorResponse }: GuardDeps): MiddlewareHandler<AppEnv> {
  /** Returns null, or the 401 of an unauthenticated request, with the same bytes for every method and body. */
  async function authenticate(c: Context<AppEnv>, area: ReturnType<typeof findArea>): Promise<Response | null> {
    if (area === 'legacy') {
      const legacy = await service.authenticateLegacy(getAuthorization(c))
      if (legacy === null) return answerUnauthorized(bearerChallenge)
      c.set('legacy', legacy)
    } else if (area === 'integration') {
      const caller = await service.authenticate(getAuthorization(c))
      if (caller === null) return answerUnauthorized(basicChallenge)
      c.set('caller', caller)
    }
    return null
  }

  /** @param source - Null: no limit per source applies. */
  async function findRejection(c: Context<AppEnv>, path: string, source: string | null): Promise<Response | null> {
    try {
      const area = findArea(path)
      const unauthorized = await authenticate(c, area)
      // Checked again after authentication, so that parallel guesses cannot exceed the limit.
      if (source !== null) {
        const waitMs = unauthorized === null ? limits?.unauthorizedWaitMs(source) : limits?.countUnauthorized(source)
        if (waitMs) return answerTooManyRequests(waitMs)
      }
      if (unauthorized !== null) return unauthorized
      const caller = area === 'integration' ? c.get('caller').integrationAddress : c.get('legacy')?.keyId
      const waitMs = (caller !== undefined && limits?.countCall(caller)) || 0
      if (waitMs > 0) return answerTooManyRequests(waitMs)
      // Where sharing is off, its route answers 404 before any 400. Source: docs/interface.md 7.
      const isSharingOff = service.identity === null && path === paths.shareToken
      if (!isSharingOff) rejectTwoContentTypes(c)
      return null
    } catch (error) {
      return toErrorResponse(error, c)
    }
  }

  return async (c, next) => {
    const path = getRawPath(c)
    const isLimited = limits !== undefined && !healthPaths.some((each) => each === path)
    const source = isLimited ? limits.findSource(findPeer(c), c.req.header('x-forwarded-for') ?? null) : null
    const waitMs = source === null ? 0 : limits?.countRequest(source)
    if (waitMs) return answerTooManyRequests(waitMs)
    const rejection = await findRejection(c, path, source)
    if (rejection !== null) return rejection
    await next()
    // Processor updates and the metrics are authenticated by their routes.
    const unauthorizedWaitMs = source !== null && c.res.status === 401 ? limits?.countUnauthorized(source) : 0
    if (!unauthorizedWaitMs) return undefined
    c.res = undefined // otherwise hono merges the headers of the 401
    c.res = answerTooManyRequests(unauthorizedWaitMs)
    return undefined
  }
}
