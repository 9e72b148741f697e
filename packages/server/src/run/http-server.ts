/** A hardened HTTP server that can be stopped without cutting anybody off. @module */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { cacheControl } from '@payment-integration/contract'
import { type Connections, trackConnections } from './connections.js'
import type { createRequestListener } from './request-listener.js'

/** Limits of the server, in milliseconds, bytes and counts. */
export const serverLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 5_000,
  checkIntervalMs: 2_000,
  maxHeaderBytes: 8 * 1024,
  maxRequestsPerSocket: 1_000,
  maxConnections: 10_000,
} as const

/** The address to listen on is taken, not ours, or not allowed. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code = 'ERR_LISTEN'
  constructor(host: string, port: number, reason: string | undefined) {
    const advice =
      reason === 'EADDRINUSE'
        ? 'another program listens there; stop it or choose another PI_PORT'
        : reason === 'EACCES'
          ? 'this user may not use that port; choose a PI_PORT above 1023'
          : 'check PI_HOST and PI_PORT'
    super(`Cannot listen on ${host} port ${port} (${reason ?? 'unknown reason'}): ${advice}.`)
  }
}

/** A listening server. */
export interface HttpServer {
  /** Base address, without a slash at the end. */
  readonly url: string
  /**
   * Accepts nothing new, closes connections without a request in progress, lets requests finish, and cuts what is left when
   * the signal aborts. Idempotent.
   */
  stop(cut: AbortSignal): Promise<void>
}

/**
 * Listens.
 * @throws ListenError `ERR_LISTEN` when the address cannot be used.
 */
export async function listenHttp(
  { host, port }: { readonly host: string; readonly port: number },
  listener: ReturnType<typeof createRequestListener>,
): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: serverLimits.headersTimeoutMs,
      requestTimeout: serverLimits.requestTimeoutMs,
      keepAliveTimeout: serverLimits.keepAliveTimeoutMs,
      connectionsCheckingInterval: serverLimits.checkIntervalMs,
      maxHeaderSize: serverLimits.maxHeaderBytes,
      // The listener asks for the header itself, because Node's own refusal has no body and no Cache-Control.
      requireHostHeader: false,
    },
    listener,
  )
  // Node would drop the headers above a count without a word; the listener refuses them instead.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = serverLimits.maxRequestsPerSocket
  server.maxConnections = serverLimits.maxConnections
  server.on('clientError', answerClientError)
  // Node would answer an unknown expectation itself, without a body and Cache-Control. It may be ignored (RFC 9110 10.1.1).
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing))
  const connections = trackConnections(server)
  await listen(server, host, port)
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

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(host, port, error.code)))
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

const clientErrors: Readonly<Record<string, { readonly line: string; readonly error: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', error: 'Request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', error: 'Request took too long' },
}

/** The answer in progress on a socket; Node's own handler looks at it too. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null }

function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // Something was answered already, or nobody is there any more.
  if (error.code === 'ECONNRESET' || !socket.writable || (socket as Answering)._httpMessage?.headersSent === true) {
    socket.destroy()
    return
  }
  const { line, error: text } = clientErrors[error.code ?? ''] ?? {
    line: '400 Bad Request',
    error: 'Request is malformed',
  }
  const body = JSON.stringify({ error: text })
  const head = [
    `HTTP/1.1 ${line}`,
    `Cache-Control: ${cacheControl}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
