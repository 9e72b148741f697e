/** A hardened HTTP server that can be stopped without cutting anybody off. @module */
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createClientErrorListener } from './client-error.js'
import { type ConnectionLimit, limitConnections } from './connection-limit.js'
import { type Connections, trackConnections } from './connections.js'
import type { createRequestListener } from './request-listener.js'
import { takeTurns } from './take-turns.js'

/** Limits of a server, in milliseconds, bytes and counts. */
export interface ServerLimits {
  /** Longest time for the headers of a request, then 408. */
  readonly headersTimeoutMs: number
  /** Longest time for a whole request, then 408. */
  readonly requestTimeoutMs: number
  /** How often both are checked. */
  readonly checkIntervalMs: number
  /** How long a connection may stay between two requests. */
  readonly keepAliveTimeoutMs: number
  /**
   * How long a connection may stay without a byte in either direction: ends a client that does not read its answer.
   * While an answer is being made the silence is the server's, and does not count.
   */
  readonly silenceTimeoutMs: number
  readonly maxHeaderBytes: number
  /** Requests of one connection that are worked on at once; the rest of a pipeline waits. */
  readonly maxRequestsAtOnce: number
  readonly maxRequestsPerSocket: number
  readonly maxConnections: number
}

/** The limits unless a caller says otherwise. */
export const serverLimits: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  checkIntervalMs: 2_000,
  keepAliveTimeoutMs: 5_000,
  silenceTimeoutMs: 30_000,
  maxHeaderBytes: 8 * 1024,
  maxRequestsAtOnce: 8,
  maxRequestsPerSocket: 1_000,
  maxConnections: 10_000,
}

/** Where to listen. */
export interface Place {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** What an operator sets them by. @default those of the API */
  readonly variables?: { readonly host: string; readonly port: string } | undefined
}

const apiVariables = { host: 'PI_HOST', port: '--port or PI_PORT' } as const

/** The address to listen on is taken, not ours, or not allowed. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code = 'ERR_LISTEN'
  /** @internal */
  constructor({ host, port, variables = apiVariables }: Place, reason: string | undefined) {
    const advice =
      reason === 'EADDRINUSE'
        ? `another program listens there; stop it or choose another port (${variables.port})`
        : reason === 'EACCES'
          ? `this user may not use that port; choose one above 1023 (${variables.port})`
          : `check ${variables.host} and ${variables.port}`
    super(`Cannot listen on ${host} port ${port} (${reason ?? 'unknown reason'}): ${advice}.`)
  }
}

type Listener = ReturnType<typeof createRequestListener>

/** A listening server. */
export interface HttpServer {
  /** Base address, without a slash at the end. */
  readonly url: string
  /**
   * Accepts nothing new, closes connections without a request in progress, lets requests finish, and cuts what is left
   * when the signal aborts. Idempotent.
   */
  stop(cut: AbortSignal): Promise<void>
}

/**
 * Listens.
 * @param chosen - Limits other than {@link serverLimits}.
 * @param perSource - How many connections one source may hold; as many as it likes without it.
 * @throws ListenError `ERR_LISTEN` when the address cannot be used.
 */
export async function listenHttp(
  place: Place,
  listener: Listener,
  chosen: Partial<ServerLimits> = {},
  perSource?: ConnectionLimit | undefined,
): Promise<HttpServer> {
  const limits = { ...serverLimits, ...chosen }
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // The listener asks for the header itself, because Node's own refusal has no body and no Cache-Control.
      requireHostHeader: false,
    },
    takeTurns(listener, { maxAtOnce: limits.maxRequestsAtOnce, maxRequests: limits.maxRequestsPerSocket }),
  )
  // Node would drop the headers above a count without a word; the listener refuses them instead.
  server.maxHeadersCount = 0
  server.maxConnections = limits.maxConnections
  server.timeout = limits.silenceTimeoutMs
  // Node would answer an unknown expectation itself, without a body and Cache-Control. It may be ignored (RFC 9110
  // 10.1.1).
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  if (perSource !== undefined) limitConnections(server, perSource)
  const connections = trackConnections(server)
  // With a listener Node leaves it to us to close the connection.
  server.on('timeout', (socket: Socket) => {
    if (connections.awaitsAnswer(socket)) socket.setTimeout(limits.silenceTimeoutMs)
    else socket.destroy()
  })
  server.on('clientError', createClientErrorListener(connections))
  await listen(server, place)
  const { host } = place
  const address = server.address() as AddressInfo
  let stopped: Promise<void> | null = null
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    stop(cut) {
      stopped ??= close(server, connections, cut)
      return stopped
    },
  }
}

function listen(server: Server, place: Place): Promise<void> {
  const { host, port } = place
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(place, error.code)))
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // A later error of the listening socket (too many open files) must not end the process; Node goes on accepting.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

function close(server: Server, connections: Connections, cut: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cutAll = () => server.closeAllConnections()
    // A connection becomes idle when its last answer is out; nothing new may start on it.
    server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
    // Not before the first interval is over, so that a request whose bytes have arrived is still served.
    const idle = setInterval(() => connections.closeIdle(), 50)
    server.close(() => {
      clearInterval(idle)
      cut.removeEventListener('abort', cutAll)
      resolve()
    })
    if (cut.aborted) cutAll()
    else cut.addEventListener('abort', cutAll, { once: true })
  })
}
