/**
 * Authenticates areas (a) and (c) before anything else; every failure looks the same. Source: docs/interface.md 5.
 * @module
 */
import { unauthorizedBody } from '@payment-integration/contract'
import type { Service } from '@payment-integration/core'
import type { Context } from 'hono'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { authorization } from './request-parts.js'

/** Sent with every 401 of the integration API. */
export const basicChallenge = 'Basic realm="payment-integration"'

/**
 * The 401 for an unauthenticated request to the integration API; null for every other request. It comes before method,
 * path, parameters and body are read. All causes give the same bytes.
 */
export async function authenticateIntegration(
  c: Context<AppEnv>,
  service: Pick<Service, 'authenticate'>,
): Promise<Response | null> {
  const caller = await service.authenticate(authorization(c))
  if (caller === null) return jsonAnswer(unauthorizedBody, 401, { 'WWW-Authenticate': basicChallenge })
  c.set('caller', caller)
  return null
}
