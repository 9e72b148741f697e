/** Opens the sockets of the API and of the admin app. @module */
import type { Logger } from '@payment-integration/core/ports'
import type { createAdminApp } from '../app/admin-app.js'
import type { createApp } from '../app/create-app.js'
import type { Config } from '../config/config.js'
import { createSourceReader } from '../limits/source.js'
import { type HttpServer, listenHttp } from './http-server.js'
import { createRequestListener } from './request-listener.js'

/** The open listeners. */
export interface Listeners {
  /** Base address of APIs and pages, without a slash at the end. Empty: the process serves neither. */
  readonly url: string
  /** Base address of the admin app, or null. */
  readonly adminUrl: string | null
  /** The API's clients move to another server, and are still served. */
  drain(): void
  /** Closes the one of the API. */
  stop(cut: AbortSignal): Promise<void>
  /** Closes the one of the admin app: last, so that it answers during the whole shutdown. */
  stopAdmin(cut: AbortSignal): Promise<void>
}

/** The apps to serve. */
export interface ListenersOptions {
  /** APIs and pages; null: the process serves neither. */
  readonly app: ReturnType<typeof createApp> | null
  readonly admin: ReturnType<typeof createAdminApp> | null
  readonly logger: Logger
  readonly ownsProcess?: boolean | undefined
}

/**
 * Listens. Requests to the admin app are not limited: the public cannot reach it.
 * @throws ListenError `ERR_LISTEN` when an address cannot be used; then nothing listens.
 */
export async function openListeners(config: Config, options: ListenersOptions): Promise<Listeners> {
  const { app, admin, logger, ownsProcess } = options
  const { connectionsPerSource: mostPerSource, trustedProxies } = config.limits
  const limit = mostPerSource === null ? undefined : { mostPerSource, sources: createSourceReader(trustedProxies) }
  const kept = { keepAliveTimeoutMs: config.keepAliveMs }
  const api = app && (await listenHttp(config, await createRequestListener(app, logger, { ownsProcess }), kept, limit))
  const beside = admin && (await listenAdmin(admin))
  return {
    url: api?.url ?? '',
    adminUrl: beside?.url ?? null,
    drain: () => api?.drain(),
    stop: async (cut) => api?.stop(cut),
    stopAdmin: async (cut) => beside?.stop(cut),
  }

  async function listenAdmin(served: ReturnType<typeof createAdminApp>): Promise<HttpServer | null> {
    const { listen } = config.admin
    if (listen === null) return null
    const variables = { host: 'PI_ADMIN_HOST', port: 'PI_ADMIN_PORT' }
    try {
      return await listenHttp({ ...listen, variables }, await createRequestListener(served, logger, { ownsProcess }))
    } catch (error) {
      await api?.stop(AbortSignal.abort())
      throw error
    }
  }
}
