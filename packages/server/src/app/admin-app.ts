/** The app for operators only: `/live`, `/ready`, `/health` and `/metrics`. Source: docs/roles.md. @module */
import { createHash, timingSafeEqual } from 'node:crypto'
import { cacheControl, notFoundBody } from '@payment-integration/contract/internal'
import type { Clock } from '@payment-integration/core/ports'
import { Hono } from 'hono'
import { cacheAnswer } from '../internal/cached-answer.js'
import type { Metrics } from '../metrics/metrics.js'
import { addEndpoint, answerPrivateJson, answerUnauthorized } from './answers.js'
import { bearerChallenge } from './guard.js'
import { addHealthRoutes, createReadiness, isRoleReady, type ReadinessDeps } from './health.js'
import { type AppEnv, getAuthorization } from './requests.js'

/**
 * Adds the route. Metrics are computed at most once a second, one computation at a time. A 401 has the same body as in
 * the other APIs.
 * @param token - Required as `Authorization: Bearer <token>`; null: no credentials are required.
 * @param clock - Monotonic, in milliseconds.
 */
export function addMetricsRoute(
  app: Hono<AppEnv>,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  token: string | null,
  clock: Pick<Clock, 'now'>,
): void {
  const isAuthorized = token === null ? () => true : createBearerCheck(token)
  const getText = cacheAnswer(() => metrics.text(), clock)
  addEndpoint(app, 'get', '/metrics', async (c) => {
    if (!isAuthorized(getAuthorization(c))) return answerUnauthorized(bearerChallenge)
    const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': cacheControl }
    return new Response(await getText(), { headers })
  })
}

/** Builds the check of a bearer token, which compares hashes of equal length in constant time. */
export function createBearerCheck(token: string): (header: string | null) => boolean {
  const hashText = (text: string) => createHash('sha256').update(text).digest()
  const expected = hashText(token)
  return (header) => {
    const presented = /^bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1] ?? ''
    return timingSafeEqual(hashText(presented), expected)
  }
}

/** The checks and metrics of the admin listener. */
export interface AdminAppDeps extends ReadinessDeps {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Required by `/metrics` as `Authorization: Bearer <token>`; null: no credentials are required. */
  readonly metricsToken: string | null
  /** Monotonic, in milliseconds. @default performance.now */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Creates the app for a listener that the public cannot reach. `/live` answers 200 while the process answers. `/ready`
 * answers 200, or 503 while no request should be sent here: in a shutdown, without a database, or once a loop has
 * stopped. `/ready/<role>` answers for one role; an indexer that cannot read its chain is 503, too. Never throws.
 * @example
 * import { serve } from '@hono/node-server'
 * import { type AdminAppDeps, createAdminApp } from '@payment-integration/server'
 * export const serveAdmin = (deps: AdminAppDeps) =>
 *   serve({ fetch: createAdminApp(deps).fetch, hostname: '127.0.0.1', port: 9464 })
 */
export function createAdminApp(deps: AdminAppDeps): Hono<AppEnv> {
  const { clock = { now: () => performance.now() }, metrics, metricsToken } = deps
  // Only the health report is cached: a shutdown shows at once.
  const health = cacheAnswer(deps.health, clock)
  const readiness = createReadiness({ ...deps, health })
  const app = new Hono<AppEnv>()
  addEndpoint(app, 'get', '/live', () => answerPrivateJson({ status: 'ok' }))
  addEndpoint(app, 'get', '/ready', async () => {
    const report = await readiness()
    return answerPrivateJson(report, report.status === 'ready' ? 200 : 503)
  })
  addEndpoint(app, 'get', '/ready/:role', async (c) => {
    const report = await readiness()
    const isReady = isRoleReady(report, c.req.param('role'))
    return isReady === null ? answerPrivateJson(notFoundBody, 404) : answerPrivateJson(report, isReady ? 200 : 503)
  })
  addHealthRoutes(app, health)
  addMetricsRoute(app, metrics, metricsToken, clock)
  app.notFound(() => answerPrivateJson(notFoundBody, 404))
  return app
}
