/** Passes requests to the app; limits connections. Source: RFC 9112 3, docs/decisions/rate-limits.md. @module */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cacheControl, parseUrl } from '@payment-integration/contract/internal'
import { loadPackage } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { findArea, isFullyChecked, isUnambiguousPath, unreadablePaths } from '../app/area.js'
import { parseRequestId, requestIdHeader } from '../app/observe-requests.js'
import type { AppEnv } from '../app/requests.js'
import type { SourceReader } from '../limits/request-limits.js'
import { toErrorFields } from '../logging/log.js'

export interface ConnectionLimit {
  readonly maxPerSource: number
  readonly sources: Pick<SourceReader, 'findConnectionSource'>
}

/**
 * Closes a connection at once when its source has reached the limit. Connections of trusted proxies are not counted.
 * Call it before the server listens. Memory is bounded by the number of open connections.
 */
export function limitConnections(server: Server, { maxPerSource, sources }: ConnectionLimit): void {
  const openCounts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const source = sources.findConnectionSource(socket.remoteAddress)
    if (source === null) return
    const count = openCounts.get(source) ?? 0
    if (count >= maxPerSource) return void socket.destroy()
    openCounts.set(source, count + 1)
    socket.once('close', () => {
      const remaining = (openCounts.get(source) ?? 1) - 1
      if (remaining === 0) openCounts.delete(source)
      else openCounts.set(source, remaining)
    })
  })
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

interface Connection {
  receivedCount: number
  freeSlots: number
  /** Requests that have no slot yet, oldest first. */
  readonly waiting: Exchange[]
  /** Requests without a finished answer, oldest first. */
  readonly unfinished: Set<Exchange>
  last: Exchange | null
  /** The first error of reading requests, such as malformed bytes or a timeout; null: none. */
  flaw: NodeJS.ErrnoException | null
}

/**
 * Passes the requests of a server to a listener, within the limits of each connection. Call it before the server
 * listens. Node emits a whole pipeline at once and buffers each answer until the previous one is sent. A client that
 * reads nothing would fill the memory, so a request beyond `maxRequestsAtOnce` waits. The answer to the last request
 * closes the connection; later requests get no answer: Node's own limit would answer without Cache-Control.
 * @returns A function that closes every connection without a request in progress: idle between requests, silent since
 * its start, or in the middle of request headers. Node's `closeIdleConnections` closes only the first kind.
 */
export function passRequests(
  server: Server,
  listener: RequestListener,
  limits: {
    readonly maxRequestsAtOnce: number
    readonly maxRequestsPerSocket: number
    readonly silenceTimeoutMs: number
  },
): () => void {
  const { maxRequestsAtOnce, maxRequestsPerSocket, silenceTimeoutMs } = limits
  const openConnections = new Map<Socket, Connection>()

  function startNext(connection: Connection): void {
    const next = connection.freeSlots > 0 ? connection.waiting.shift() : undefined
    if (next === undefined) return
    connection.freeSlots -= 1
    // Skips requests of a client that is gone.
    if (!next.incoming.socket.destroyed) listener(next.incoming, next.response)
  }

  server.timeout = silenceTimeoutMs
  server.on('connection', (socket: Socket) => {
    const counts = { receivedCount: 0, freeSlots: maxRequestsAtOnce }
    openConnections.set(socket, { ...counts, waiting: [], unfinished: new Set(), last: null, flaw: null })
    socket.once('close', () => openConnections.delete(socket))
  })
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    const { socket } = incoming
    const connection = openConnections.get(socket)
    if (connection === undefined) return
    const exchange = { incoming, response }
    connection.receivedCount += 1
    connection.unfinished.add(exchange)
    connection.last = exchange
    response.once('close', () => {
      connection.unfinished.delete(exchange)
      connection.freeSlots += 1
      startNext(connection)
      if (connection.flaw !== null) rejectAfterAnswers(socket, connection, connection.flaw)
    })
    if (connection.receivedCount > maxRequestsPerSocket) return
    if (connection.receivedCount === maxRequestsPerSocket) response.setHeader('Connection', 'close')
    connection.waiting.push(exchange)
    startNext(connection)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const connection = openConnections.get(socket)
    if (connection === undefined || error.code === 'ECONNRESET') return void socket.destroy()
    // Each further chunk of a broken stream raises another error.
    if (connection.flaw !== null) return
    connection.flaw = error
    rejectAfterAnswers(socket, connection, error)
  })
  // With this listener, Node does not close a silent connection itself. A client that awaits an answer is not silent.
  server.on('timeout', (socket: Socket) => {
    const [oldest] = openConnections.get(socket)?.unfinished ?? []
    if (oldest !== undefined && !oldest.response.headersSent) socket.setTimeout(silenceTimeoutMs)
    else socket.destroy()
  })
  return () => {
    for (const [socket, { unfinished }] of openConnections) if (unfinished.size === 0) socket.destroy()
  }
}

const flawAnswers: Readonly<Record<string, { readonly line: string; readonly error: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', error: 'Request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', error: 'Request took too long' },
}
const malformedAnswer = { line: '400 Bad Request', error: 'Request is malformed' }

/**
 * Answers 431, 408 or 400 and closes, once every complete request before the flaw is answered. Otherwise a client could
 * take the error for the answer to one of them. Bytes after a request that closes the connection are ignored.
 */
function rejectAfterAnswers(socket: Socket, { unfinished, last }: Connection, { code = '' }: NodeJS.ErrnoException) {
  if ([...unfinished].some(({ incoming }) => incoming.complete)) return
  const isAnswerBegun = last !== null && !last.incoming.complete && last.response.headersSent
  if (!socket.writable || code === 'HPE_CLOSED_CONNECTION' || isAnswerBegun) socket.destroySoon()
  else answerAndClose(socket, flawAnswers[code] ?? malformedAnswer)
}

function answerAndClose(socket: Socket, { line, error }: typeof malformedAnswer): void {
  const body = JSON.stringify({ error })
  const head = [
    `HTTP/1.1 ${line}`,
    `Cache-Control: ${cacheControl}`,
    `${requestIdHeader}: ${parseRequestId(null)}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** `http://host` or `https://host` before path, query or end. User information is rejected: it may look like a host. */
const originPattern = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i

/** A literal backslash, or a dot segment even if encoded: parsers read them differently. */
const ambiguousPath = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Path and query of a request target in origin form (`/path`) or absolute form (`http://host/path`). Servers must
 * accept both. The host is ignored, like the Host header. Unreadable paths, dot segments, and long ambiguous paths are
 * rejected: a proxy that guards paths may resolve them differently. If some parser could assign the rejected target to
 * the integration or legacy API, returns a missing path there, so that the answer is 401; otherwise null.
 */
export function parseTarget(target: string): string | null {
  if (isUnambiguousPath(target)) return target
  const path = removeOrigin(target)
  if (isReadable(path)) return path
  const area = findArea(target)
  return area === null ? null : unreadablePaths[area]
}

function removeOrigin(target: string): string {
  const [start, host] = originPattern.exec(target) ?? []
  if (start === undefined || parseUrl(`http://${host}`) === null) return target
  const path = target.slice(start.length)
  return path.startsWith('/') ? path : `/${path}`
}

function isReadable(path: string): boolean {
  const [withoutQuery = ''] = path.split(/[?#]/, 1)
  return (
    path.startsWith('/') &&
    isFullyChecked(withoutQuery) &&
    !ambiguousPath.test(withoutQuery) &&
    parseUrl(`http://localhost${path}`) !== null
  )
}

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** After a rejected message the start of the next one is uncertain, so the connection closes. */
const closingHeaders = { 'Cache-Control': cacheControl, 'Content-Type': 'application/json', Connection: 'close' }

/** Headers that decide where a message ends and which host it is for. A repeat makes the message untrustworthy. */
const framingHeaders = new Set(['host', 'content-length', 'transfer-encoding'])

/** Stands for the host of an HTTP/1.0 request without `Host`; no page trusts it. */
const unnamedHost = 'host.invalid'

/** The most headers a request may have. */
const maxHeaders = 100

/**
 * Builds a listener for `node:http`. Messages that two parsers may read differently are rejected with 400, even before
 * authentication. These are a repeated framing header, an unknown HTTP version, HTTP/1.1 without `Host`, and chunks in
 * HTTP/1.0. A target that is not a path is rejected, too. A transfer coding besides chunked gets 501 (RFC 9112 section
 * 6.1): Node ignores it, and the body would be misread.
 */
export async function createRequestListener(
  app: Hono<AppEnv>,
  logger: Logger,
  { ownsProcess = false }: { readonly ownsProcess?: boolean | undefined } = {},
): Promise<RequestListener> {
  const { getRequestListener, RequestError } = await loadPackage(
    '@hono/node-server',
    'startServer',
    () => import('@hono/node-server'),
  )
  const listen = getRequestListener((request, env) => app.fetch(request, env as AppEnv['Bindings']), {
    overrideGlobalObjects: ownsProcess,
    errorHandler: (error) => answerFailure(error, error instanceof RequestError, logger),
  })
  return (incoming, outgoing) => {
    const flaw = findFramingFlaw(incoming)
    if (flaw !== null) return answerError(incoming, outgoing, 400, flaw)
    if (hasOtherCoding(incoming)) return answerError(incoming, outgoing, 501, 'Transfer-Encoding must be chunked')
    if (incoming.rawHeaders.length > 2 * maxHeaders)
      return answerError(incoming, outgoing, 431, `More than ${maxHeaders} headers`)
    const target = parseTarget(incoming.url ?? '')
    if (target === null)
      return answerError(incoming, outgoing, 400, 'Request target must be an unambiguous path or http URL')
    incoming.url = target
    incoming.headers.host ??= unnamedHost
    void listen(incoming, outgoing)
  }
}

function findFramingFlaw({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'HTTP version is not supported'
  if (httpVersion === '1.1' && headers.host === undefined) return 'Header host is missing'
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return 'Header transfer-encoding needs HTTP/1.1'
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (framingHeaders.has(name) && seen.has(name)) return `Header ${name} is given more than once`
    seen.add(name)
  }
  return null
}

/** Whether a coding precedes chunked. Node's parser itself rejects codings without a final chunked. */
function hasOtherCoding({ headers }: IncomingMessage): boolean {
  const codings = (headers['transfer-encoding'] ?? '').split(',')
  return codings.length > 1 && codings.at(-1)?.trim().toLowerCase() === 'chunked'
}

function answerError(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: 400 | 431 | 501,
  error: string,
): void {
  const body = JSON.stringify({ error })
  const given = incoming.headers['x-request-id']
  const requestId = parseRequestId(typeof given === 'string' ? given : null)
  outgoing.writeHead(status, {
    ...closingHeaders,
    [requestIdHeader]: requestId,
    'Content-Length': Buffer.byteLength(body),
  })
  outgoing.end(body)
}

function answerFailure(error: unknown, isClientError: boolean, logger: Logger): Response {
  const requestId = parseRequestId(null)
  if (!isClientError) logger.error({ requestId, ...toErrorFields(error) }, 'A request failed outside the app.')
  const body = JSON.stringify({ error: isClientError ? 'Request is malformed' : 'Internal error' })
  return new Response(body, {
    status: isClientError ? 400 : 500,
    headers: { ...closingHeaders, [requestIdHeader]: requestId },
  })
}
