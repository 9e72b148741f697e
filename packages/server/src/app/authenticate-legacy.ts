/**
 * Authenticates area (b) before anything else; every failure looks the same. Source: docs/interface.md 5 (legacy API);
 * docs/decisions/legacy.md.
 * @module
 */
import { unauthorizedBody } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { authorization } from './request-parts.js'

/** Sent with every 401 of the legacy API. A bare key without the scheme is also accepted. */
export const bearerChallenge = 'Bearer realm="payment-integration"'

/**
 * The 401 for a request to the legacy API without a valid API key; null for every other request. It comes before
 * method, path, content type and body are read. All causes give the same bytes.
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
