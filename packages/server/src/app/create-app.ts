/** The HTTP app: fetch-standard, so that any host can embed it. Source: docs/interface.md 4.1, 4.3, 5, 7. @module */
import { notFoundBody } from '@payment-integration/contract/internal'
import { type Service, silentLogger, type UpdateReceiver } from '@payment-integration/core'
import { IdentityMisconfiguredError } from '@payment-integration/core/identity'
import type { DeliveryStreams } from '@payment-integration/core/internal'
import type { Clock, Logger } from '@payment-integration/core/ports'
import { type Context, Hono } from 'hono'
import { cacheAnswer } from '../internal/cached-answer.js'
import type { RequestLimits } from '../limits/request-limits.js'
import { toErrorFields } from '../logging/log.js'
import type { Metrics } from '../metrics/metrics.js'
import { addMetricsRoute } from './admin-app.js'
import { answerError, answerLegacyError, answerPrivateJson } from './answers.js'
import { addLegacyRoutes, addPaymentRoutes, addShareRoute, type ReadQueries } from './api-routes.js'
import { createGuard } from './guard.js'
import { addHealthRoutes, type HealthReport } from './health.js'
import { createAccessLog, observeRequests } from './observe-requests.js'
import { addOpenApiRoute, addReferencePage } from './reference-page.js'
import type { AppEnv } from './requests.js'
import { addStreamRoute, addTriggerRoute, type TriggerHandler } from './streaming-routes.js'
import { addProcessorRoute, addVerdictRoute, type VerdictReader } from './webhook-routes.js'

/** Pages to mount: those of `createConsole` and `createPortal` of `@payment-integration/console`. */
export interface MountedPages {
  fetch(request: Request, bindings?: AppEnv['Bindings']): Response | Promise<Response>
}

/** The service and the optional parts of the app. */
export interface AppDeps {
  /** The use cases, from `createService` or `openService`. */
  readonly service: Pick<
    Service,
    'authenticate' | 'authenticateLegacy' | 'legacy' | 'applyUpdate' | 'applyUpdates' | 'identity'
  > & { readonly queries: ReadQueries }
  /** Verifies processor updates. Null without a processor: the endpoint then answers 404. */
  readonly receiveUpdate: UpdateReceiver | null
  /** Parses webhooks of the identity provider; without it their endpoint does not exist. @default none */
  readonly readWebhook?: VerdictReader | undefined
  /** Whether the APIs are served. If not, only pages, health, metrics and the reference page are. @default true */
  readonly api?: boolean | undefined
  /** Streams of deliveries. Null: their path answers 404. Close them at the shutdown. @default null */
  readonly streams?: DeliveryStreams | null | undefined
  /** Causes events for tests of receivers; for development alone. Null: its path answers 404. @default null */
  readonly trigger?: TriggerHandler | null | undefined
  /** The operators' pages below `/console`. Null: their paths answer 404. @default null */
  readonly console?: MountedPages | null | undefined
  /** The integrators' pages below `/portal`. Null: their paths answer 404. @default null */
  readonly portal?: MountedPages | null | undefined
  /** The health check, from `createHealth`. */
  readonly health: () => Promise<HealthReport>
  /** Measures requests. @default none */
  readonly metrics?: Pick<Metrics, 'onRequest' | 'text' | 'contentType' | 'countRejectedWebhook'> | undefined
  /** With `metrics`, serves `/metrics` to callers that send `Authorization: Bearer <token>`. @default none */
  readonly metricsToken?: string | null | undefined
  /** Whether `/reference` is served. The page sends 0.5 MB on a browser's first visit. @default false */
  readonly reference?: boolean | undefined
  /** Rate limits per source and per caller, from `createRequestLimits`. @default none */
  readonly limits?: RequestLimits | undefined
  /** The peer address of a request; those without one are one source for `limits`. @default the socket's, on Node */
  readonly findPeer?: ((c: Context<AppEnv>) => string | undefined) | undefined
  /** Whether every answered request is logged. @default false */
  readonly accessLog?: boolean | undefined
  /** Monotonic, in milliseconds. @default performance.now */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** @default none */
  readonly logger?: Logger | undefined
}

/**
 * Creates the app: the read API, the legacy API, processor updates, identity sharing, health, metrics, and the
 * reference page. Every answer is JSON, except the metrics, the reference, the pages of console and portal, the stream
 * of deliveries (server-sent events) and triggered events (one JSON object per line). Every answer has `X-Request-Id`,
 * and except files and pages `Cache-Control: private, no-store`. An error body is `{"error": "<message>"}`, with
 * `details` on a 400 of the legacy API. A request without credentials costs at most about twice the CPU of a 401. Never
 * throws: errors of requests are answered.
 * @example
 * import { serve } from '@hono/node-server'
 * import { createApp, createHealth } from '@payment-integration/server'
 * import { openService, readConfig } from '@payment-integration/server/service'
 * const { service, receiveUpdate } = await openService(readConfig(process.env))
 * serve({ fetch: createApp({ service, receiveUpdate, health: createHealth(service) }).fetch })
 */
export function createApp(deps: AppDeps): Hono<AppEnv> {
  const { service, receiveUpdate, readWebhook, health, metrics, metricsToken, limits, logger = silentLogger } = deps
  const { findPeer = ({ env }) => env?.incoming?.socket.remoteAddress } = deps
  const { clock = { now: () => performance.now() }, api = true } = deps
  const app = new Hono<AppEnv>()
  const guard = createGuard({ service, limits, findPeer, toErrorResponse })
  const observers = [metrics?.onRequest, deps.accessLog === true ? createAccessLog(logger) : undefined]
  app.use('*', observeRequests(guard, { observers: observers.filter((each) => each !== undefined), clock }))
  if (api) addApi()
  addHealthRoutes(app, cacheAnswer(health, clock))
  if (metrics !== undefined && typeof metricsToken === 'string') addMetricsRoute(app, metrics, metricsToken, clock)
  for (const [path, pages] of Object.entries({ '/console': deps.console, '/portal': deps.portal }))
    if (pages) app.on(['GET', 'HEAD', 'POST'], [path, `${path}/*`], (c) => pages.fetch(c.req.raw, c.env))
  if (deps.reference === true) addReferencePage(app)
  app.notFound(() => answerPrivateJson(notFoundBody, 404))
  app.onError(toErrorResponse)
  return app

  function addApi(): void {
    addPaymentRoutes(app, service)
    addLegacyRoutes(app, service)
    if (receiveUpdate !== null) addProcessorRoute(app, { service, receiveUpdate })
    addShareRoute(app, service)
    if (deps.streams) addStreamRoute(app, deps.streams)
    if (deps.trigger) addTriggerRoute(app, { trigger: deps.trigger, logger })
    const { identity } = service
    if (readWebhook !== undefined && identity !== null)
      addVerdictRoute(app, { identity, readWebhook, logger, onRejected: metrics?.countRejectedWebhook, clock })
    addOpenApiRoute(app)
  }

  function toErrorResponse(error: unknown, c: Context<AppEnv>): Response {
    const { status, body, headers } = c.get('legacy') !== undefined ? answerLegacyError(error) : answerError(error)
    // A provider's rejection is in the log already, with its status and its reason.
    const isLogged = error instanceof IdentityMisconfiguredError
    if (status >= 500 && !isLogged)
      logger.error({ requestId: c.get('requestId'), status, ...toErrorFields(error) }, 'A request failed.')
    return answerPrivateJson(body, status, headers)
  }
}
