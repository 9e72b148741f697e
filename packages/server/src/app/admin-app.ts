/** What only operators reach: `/live`, `/ready`, `/health` and `/metrics`. Source: docs/roles.md. @module */
import { notFoundBody } from '@payment-integration/contract'
import { Hono } from 'hono'
import { shareAnswer, sharedMs } from '../internal/share-answer.js'
import type { Metrics } from '../metrics/metrics.js'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import type { HealthReport } from './health.js'
import { addHealthRoutes } from './health-routes.js'
import { jsonAnswer } from './json-answer.js'
import { addMetricsRoute } from './metrics-route.js'
import { createReadiness, isRoleReady, type ReadinessDeps } from './readiness.js'

/** The parts of the admin app. */
export interface AdminAppDeps extends ReadinessDeps {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Required by `/metrics` as `Authorization: Bearer <token>`; null: no credentials are required. */
  readonly metricsToken: string | null
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * Builds the app for a listener that the public cannot reach. `/live` answers 200 while the process answers.
 * `/ready` answers 200, or 503 while no request should be sent here: from the beginning of a shutdown, or without a
 * database. `/ready/<role>` answers for one role; there a chain that cannot be read is 503, too.
 * @example serve({ fetch: createAdminApp({ … }).fetch, hostname: '127.0.0.1', port: 9464 })
 */
export function createAdminApp(deps: AdminAppDeps): Hono<AppEnv> {
  const { now = () => performance.now(), metrics, metricsToken } = deps
  // Only the database's part is shared for a second: a shutdown shows at once.
  const health = shareAnswer<HealthReport>(deps.health, { forMs: sharedMs, now })
  const readiness = createReadiness({ ...deps, health })
  const app = new Hono<AppEnv>()
  app.get('/live', () => jsonAnswer({ status: 'ok' }))
  app.get('/ready', async () => {
    const report = await readiness()
    return jsonAnswer(report, report.status === 'ready' ? 200 : 503)
  })
  app.get('/ready/:role', async (c) => {
    const report = await readiness()
    const isReady = isRoleReady(report, c.req.param('role'))
    return isReady === null ? jsonAnswer(notFoundBody, 404) : jsonAnswer(report, isReady ? 200 : 503)
  })
  for (const path of ['/live', '/ready', '/ready/:role']) allowMethods(app, path, ['GET', 'HEAD'])
  addHealthRoutes(app, health, now)
  addMetricsRoute(app, { metrics, token: metricsToken, now })
  app.notFound(() => jsonAnswer(notFoundBody, 404))
  return app
}
