/** What every request passes first. Source: INTERFACE 5 rule 4. @module */
import type { Service } from '@payment-integration/core'
import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from './app-env.js'
import { authenticateIntegration } from './authenticate-integration.js'
import { authenticateLegacy } from './authenticate-legacy.js'
import { isIntegrationPath } from './integration-path.js'
import { isLegacyPath } from './legacy-path.js'
import { refuseTwoContentTypes } from './repeated-header.js'
import { rawPath } from './request-parts.js'

/** Authentication, which comes before any judgement of the request, then the refusal of what could be read in two ways. */
export function guard(service: Pick<Service, 'authenticate' | 'authenticateLegacy'>): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const path = rawPath(c)
    const refusal = isIntegrationPath(path)
      ? await authenticateIntegration(c, service)
      : isLegacyPath(path)
        ? await authenticateLegacy(c, service)
        : null
    if (refusal !== null) return refusal
    refuseTwoContentTypes(c)
    return next()
  }
}
