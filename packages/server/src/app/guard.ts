/** What every request passes first. Source: INTERFACE 5 rule 4. @module */
import { paths } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './app-env.js'
import { authenticateIntegration } from './authenticate-integration.js'
import { authenticateLegacy } from './authenticate-legacy.js'
import { isIntegrationPath } from './integration-path.js'
import { isLegacyPath } from './legacy-path.js'
import { refuseTwoContentTypes } from './repeated-header.js'
import { rawPath } from './request-parts.js'

/**
 * Authentication, which comes before any judgement of the request, then the refusal of what could be read in two ways.
 * @param refuse - Answers what was thrown, so that the middleware itself never throws.
 */
export function guard(
  service: Pick<Service, 'authenticate' | 'authenticateLegacy' | 'identity'>,
  refuse: (error: unknown, c: Context<AppEnv>) => Response,
): MiddlewareHandler<AppEnv> {
  async function refusalOf(c: Context<AppEnv>): Promise<Response | null> {
    try {
      const path = rawPath(c)
      const refusal = isIntegrationPath(path)
        ? await authenticateIntegration(c, service)
        : isLegacyPath(path)
          ? await authenticateLegacy(c, service)
          : null
      // Where sharing is off its route says so, whatever was sent: 404 comes before 400. Source: INTERFACE 7.
      const isSharingOff = service.identity === null && path === paths.shareToken
      if (refusal === null && !isSharingOff) refuseTwoContentTypes(c)
      return refusal
    } catch (error) {
      return refuse(error, c)
    }
  }

  return async (c, next) => {
    const refusal = await refusalOf(c)
    if (refusal !== null) return refusal
    return void (await next())
  }
}
