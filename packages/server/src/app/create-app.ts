/** The HTTP app: fetch-standard, so that any host can embed it. Source: INTERFACE 4.1, 5, 7. @module */
import { cacheControl } from '@payment-integration/contract'
import { type Logger, type Service, silentLogger, type UpdateReceiver } from '@payment-integration/core'
import { Hono } from 'hono'
import { describeError } from '../logging/describe-error.js'
import { answerError } from './answer-error.js'
import type { AppEnv } from './app-env.js'
import { authenticateIntegration } from './authenticate-integration.js'
import type { HealthReport } from './health.js'
import { addHealthRoutes } from './health-routes.js'
import { addPaymentRoutes } from './payment-routes.js'
import { addProcessorRoute } from './processor-route.js'
import { refuseTwoContentTypes } from './repeated-header.js'

/** What the app is built on. */
export interface AppDeps {
  readonly service: Pick<Service, 'authenticate' | 'payments' | 'applyUpdate'>
  /** Verifies processor updates; null when no processor is connected: the endpoint then answers 404. */
  readonly receiveUpdate: UpdateReceiver | null
  readonly health: () => Promise<HealthReport>
  /** @default none */
  readonly logger?: Logger | undefined
}

/**
 * Builds the app: the read API, processor updates and health. Every answer is JSON and carries
 * `Cache-Control: private, no-store`; every error body is `{"error": "<message>"}`.
 * @example serve({ fetch: createApp({ service, receiveUpdate: null, health }).fetch })
 */
export function createApp(deps: AppDeps): Hono<AppEnv> {
  const { service, receiveUpdate, health, logger = silentLogger } = deps
  const app = new Hono<AppEnv>()
  app.use('*', async (c, next) => {
    await next()
    c.res.headers.set('Cache-Control', cacheControl)
  })
  app.use('*', authenticateIntegration(service))
  app.use('*', refuseTwoContentTypes)
  addPaymentRoutes(app, service)
  if (receiveUpdate !== null) addProcessorRoute(app, { service, receiveUpdate })
  addHealthRoutes(app, health)
  app.notFound((c) => c.json({ error: 'Not found' }, 404))
  app.onError((error, c) => {
    const { status, body, headers } = answerError(error)
    if (status >= 500) logger.error({ status, ...describeError(error) }, 'A request failed.')
    return c.json(body, status, headers)
  })
  return app
}
