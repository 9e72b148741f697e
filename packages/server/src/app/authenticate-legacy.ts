/**
 * Authentication of area (b): first, the same for every cause. Source: docs/interface.md 5 (legacy API);
 * docs/decisions/legacy.md.
 * @module
 */
import { unauthorizedBody } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { authorization } from './request-parts.js'

/** Sent with every 401 of the legacy API. A bare key without the scheme is accepted, too. */
export const bearerChallenge = 'Bearer realm="payment-integration"'

/**
 * The 401 of a request to the legacy API that brings no valid API key, before its method, path, content type or body is
 * looked at; null for every other request. All causes give the same bytes.
 */
export async function authenticateLegacy(
  c: Context<AppEnv>,
  service: Pick<Service, 'authenticateLegacy'>,
): Promise<Response | null> {
  const caller = await service.authenticateLegacy(authorization(c))
  if (caller === null) return jsonAnswer(unauthorizedBody, 401, { 'WWW-Authenticate': bearerChallenge })
  c.set('legacy', caller)
  return null
}
