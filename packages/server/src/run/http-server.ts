/** A hardened HTTP server with a clean shutdown, and the sockets of API and admin app. @module */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import type { AppEnv } from '../app/requests.js'
import type { Config } from '../config/read-config.js'
import { ServerError } from '../errors.js'
import { createSourceReader } from '../limits/request-limits.js'
import type { ConnectionLimit, RequestListener } from './request-listener.js'
import { createRequestListener, limitConnections, passRequests } from './request-listener.js'

/** Limits of a server, in milliseconds, bytes and counts. */
const serverLimits = {
  /** Longest time for the headers of a request, then 408. */
  headersTimeoutMs: 10_000,
  /** Longest time for a whole request, then 408. */
  requestTimeoutMs: 15_000,
  /** How often both are checked. */
  checkIntervalMs: 2_000,
  /** How long a connection may stay idle between two requests. */
  keepAliveTimeoutMs: 5_000,
  /**
   * How long a connection may stay without a byte in either direction. This limit disconnects a client that does not
   * read its answer. Time in which the server prepares an answer does not count.
   */
  silenceTimeoutMs: 30_000,
  maxHeaderBytes: 8 * 1024,
  /** Concurrent requests of one connection; the rest of a pipeline waits. */
  maxRequestsAtOnce: 8,
  maxRequestsPerSocket: 1_000,
  maxConnections: 10_000,
}

export type ServerLimits = Readonly<typeof serverLimits>

interface ListenAddress {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The variables that set host and port. @default those of the API */
  readonly variables?: { readonly host: string; readonly port: string } | undefined
}

const apiVariables = { host: 'PI_HOST', port: '--port or PI_PORT' } as const

/** The address to listen on is in use, not of this machine, or not permitted. */
export class ListenError extends ServerError {
  override readonly name = 'ListenError'
  readonly code = 'ERR_LISTEN'
  /** @internal */
  constructor({ host, port, variables = apiVariables }: ListenAddress, reason: string | undefined) {
    const advice =
      reason === 'EADDRINUSE'
        ? `another program listens there; stop it or choose another port (${variables.port})`
        : reason === 'EACCES'
          ? `this user may not use that port; choose one above 1023 (${variables.port})`
          : `check ${variables.host} and ${variables.port}`
    super(`Cannot listen on ${host} port ${port} (${reason ?? 'unknown reason'}): ${advice}.`)
  }
}

/**
 * Starts an HTTP server.
 * @param overrides - Override values of {@link serverLimits}.
 * @param connectionLimit - The most connections of one source; without it there is no limit.
 * @throws ListenError `ERR_LISTEN` when the address cannot be used.
 */
export async function listenHttp(
  listenAddress: ListenAddress,
  listener: RequestListener,
  overrides: Partial<ServerLimits> = {},
  connectionLimit?: ConnectionLimit | undefined,
) {
  const limits = { ...serverLimits, ...overrides }
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // The listener requires `Host` of HTTP/1.1: Node's own 400 has no body and no Cache-Control.
    requireHostHeader: false,
  })
  // Node silently drops headers above a count; the listener rejects the request instead.
  server.maxHeadersCount = 0
  server.maxConnections = limits.maxConnections
  // An unknown expectation may be ignored (RFC 9110 10.1.1); Node's own answer has no body and no Cache-Control.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  if (connectionLimit !== undefined) limitConnections(server, connectionLimit)
  const closeIdle = passRequests(server, listener, limits)
  await listen(server, listenAddress)
  const { host } = listenAddress
  const address = server.address() as AddressInfo
  let stopped: Promise<void> | null = null
  return {
    /** Base address, without a slash at the end. */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    /** Closes each connection after its next answer and accepts new ones, so that clients move to another server. */
    drain: () => closeAfterAnswers(server),
    /**
     * Accepts nothing new, closes idle connections and lets requests finish. When the signal aborts, it closes every
     * connection. Idempotent.
     */
    stop(deadline: AbortSignal): Promise<void> {
      stopped ??= close(server, closeIdle, deadline)
      return stopped
    },
  }
}

function listen(server: Server, listenAddress: ListenAddress): Promise<void> {
  const { host, port } = listenAddress
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(listenAddress, error.code)))
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // A later error of the listening socket (too many open files) must not crash the process; Node keeps accepting.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

/** Closes each connection after its next answer, so that no new request starts on it. */
function closeAfterAnswers(server: Server): void {
  // Runs before other listeners, because an answer may be complete when they return.
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
}

function close(server: Server, closeIdle: () => void, deadline: AbortSignal): Promise<void> {
  closeAfterAnswers(server)
  return new Promise((resolve) => {
    const closeAll = () => server.closeAllConnections()
    // Waits for the first interval, so that a request whose bytes have arrived is still served.
    const idleTimer = setInterval(closeIdle, 50)
    server.close(() => {
      clearInterval(idleTimer)
      deadline.removeEventListener('abort', closeAll)
      resolve()
    })
    if (deadline.aborted) closeAll()
    else deadline.addEventListener('abort', closeAll, { once: true })
  })
}

interface ListenersOptions {
  /** APIs and pages; null: the process serves neither. */
  readonly app: Hono<AppEnv> | null
  readonly admin: Hono<AppEnv> | null
  readonly logger: Logger
  readonly ownsProcess?: boolean | undefined
}

/**
 * Starts the servers of the apps. Requests to the admin app are not limited: the public cannot reach it. Stop its
 * server last: it then answers during the whole shutdown.
 * @throws ListenError `ERR_LISTEN` when an address cannot be used; then nothing listens.
 */
export async function openListeners(config: Config, options: ListenersOptions) {
  const { app, admin, logger, ownsProcess } = options
  const { connectionsPerSource: maxPerSource, trustedProxies } = config.limits
  const limit = maxPerSource === null ? undefined : { maxPerSource, sources: createSourceReader(trustedProxies) }
  const createListener = (served: Hono<AppEnv>) => createRequestListener(served, logger, { ownsProcess })
  const overrides = { keepAliveTimeoutMs: config.keepAliveMs }
  const api = app && (await listenHttp(config, await createListener(app), overrides, limit))
  const { listen: address } = config.admin
  if (admin === null || address === null) return { api, admin: null }
  const variables = { host: 'PI_ADMIN_HOST', port: 'PI_ADMIN_PORT' }
  try {
    return { api, admin: await listenHttp({ ...address, variables }, await createListener(admin)) }
  } catch (error) {
    await api?.stop(AbortSignal.abort())
    throw error
  }
}
