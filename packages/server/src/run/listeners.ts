/** Opens the API's socket, and a separate one for metrics. @module */
import type { Logger } from '@payment-integration/core/ports'
import type { createApp } from '../app/create-app.js'
import { createMetricsApp } from '../app/metrics-route.js'
import type { Config } from '../config/config.js'
import { createSourceReader } from '../limits/source.js'
import type { Metrics } from '../metrics/metrics.js'
import { type HttpServer, listenHttp } from './http-server.js'
import { createRequestListener } from './request-listener.js'

/** The open listeners. */
export interface Listeners {
  /** Base address of the API, without a slash at the end. */
  readonly url: string
  /** Address of `/metrics`, or null where it is not served. */
  readonly metricsUrl: string | null
  /** Closes all, as for one server. */
  stop(cut: AbortSignal): Promise<void>
}

/** The apps to serve. */
export interface ListenersOptions {
  readonly app: ReturnType<typeof createApp>
  /** Undefined: metrics are not served. */
  readonly metrics: Metrics | undefined
  readonly logger: Logger
  readonly ownsProcess?: boolean | undefined
}

/**
 * Listens. Requests to the separate metrics listener are not limited: the public cannot reach it.
 * @throws ListenError `ERR_LISTEN` when an address cannot be used; then nothing listens.
 */
export async function openListeners(config: Config, options: ListenersOptions): Promise<Listeners> {
  const { app, metrics, logger, ownsProcess } = options
  const { connectionsPerSource: mostPerSource, trustedProxies } = config.limits
  const limit = mostPerSource === null ? undefined : { mostPerSource, sources: createSourceReader(trustedProxies) }
  const api = await listenHttp(config, createRequestListener(app, logger, { ownsProcess }), {}, limit)
  const beside = metrics === undefined ? null : await listenMetrics(metrics)
  return {
    url: api.url,
    metricsUrl: metrics === undefined ? null : `${(beside ?? api).url}/metrics`,
    async stop(cut) {
      await Promise.all([api.stop(cut), beside?.stop(cut)])
    },
  }

  async function listenMetrics(served: Metrics): Promise<HttpServer | null> {
    const { listen = null, token = null } = config.metrics ?? {}
    if (listen === null) return null
    const variables = { host: 'PI_METRICS_HOST', port: 'PI_METRICS_PORT' }
    const listener = createRequestListener(createMetricsApp({ metrics: served, token }), logger, { ownsProcess })
    try {
      return await listenHttp({ ...listen, variables }, listener)
    } catch (error) {
      await api.stop(AbortSignal.abort())
      throw error
    }
  }
}
