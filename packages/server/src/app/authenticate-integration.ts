/** Authentication of areas (a) and (c): first, the same for every cause. Source: INTERFACE 5. @module */
import { unauthorizedBody } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './app-env.js'
import { isIntegrationPath } from './integration-path.js'
import { isRepeated } from './repeated-header.js'

/** Sent with every 401 of the integration API. */
export const basicChallenge = 'Basic realm="payment-integration"'

/**
 * Refuses every request to the integration API that is not authenticated, before its method, path, parameters or body are
 * looked at. All causes give the same bytes.
 */
export function authenticateIntegration(service: Pick<Service, 'authenticate'>): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (!isIntegrationPath(rawPath(c))) return next()
    const caller = await service.authenticate(authorization(c))
    if (caller === null) return c.json(unauthorizedBody, 401, { 'WWW-Authenticate': basicChallenge })
    c.set('caller', caller)
    return next()
  }
}

function rawPath(c: Context<AppEnv>): string {
  const { url } = c.req.raw
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}

/** The header's value; null when it is missing or repeated, so that no reader can pick another one than we do. */
function authorization(c: Context<AppEnv>): string | null {
  return isRepeated(c, 'authorization') ? null : (c.req.header('authorization') ?? null)
}
