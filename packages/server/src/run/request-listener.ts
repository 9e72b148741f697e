/**
 * Passes requests of Node's HTTP server to the fetch-standard app. Source: docs/interface.md 4 (Cache-Control), 5, 7.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { cacheControl } from '@payment-integration/contract'
import { loadPackage } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { AppEnv } from '../app/app-env.js'
import type { createApp } from '../app/create-app.js'
import { requestIdHeader, requestIdOf } from '../app/request-id.js'
import { describeError } from '../logging/describe-error.js'
import { readTarget } from './read-target.js'

type App = ReturnType<typeof createApp>
/** A listener for `node:http`. */
export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** After a rejected message the start of the next one is uncertain, so the connection closes. */
const closing = { 'Cache-Control': cacheControl, 'Content-Type': 'application/json', Connection: 'close' }

/**
 * Headers that decide where a message ends and which host it is for. A repeated one makes the whole message
 * untrustworthy.
 */
const framing = new Set(['host', 'content-length', 'transfer-encoding'])

/** The host of an HTTP/1.0 request without `Host`: no name that the pages trust. */
const unnamedHost = 'host.invalid'

/** Most headers of a request. */
const maxHeaders = 100

/**
 * A listener for `node:http`. Messages that two parsers may read differently are rejected with 400, even before
 * authentication. These are a repeated framing header, an unknown HTTP version, HTTP/1.1 without `Host`, and chunks in
 * HTTP/1.0. A target that is no path is rejected, too. A transfer coding besides chunked is 501 (RFC 9112 section 6.1):
 * Node ignores it, and the body would be misread.
 */
export async function createRequestListener(
  app: App,
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
    errorHandler: (error) => answerUnreadable(error, error instanceof RequestError, logger),
  })
  return (incoming, outgoing) => {
    const flaw = framingFlaw(incoming)
    if (flaw !== null) return refuse(incoming, outgoing, 400, flaw)
    if (hasOtherCoding(incoming)) return refuse(incoming, outgoing, 501, 'Transfer-Encoding must be chunked')
    if (incoming.rawHeaders.length > 2 * maxHeaders)
      return refuse(incoming, outgoing, 431, `More than ${maxHeaders} headers`)
    const target = readTarget(incoming.url ?? '')
    if (target === null)
      return refuse(incoming, outgoing, 400, 'Request target must be a path, or an http address with one')
    incoming.url = target
    incoming.headers.host ??= unnamedHost
    void listen(incoming, outgoing)
  }
}

function framingFlaw({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'HTTP version is not supported'
  if (httpVersion === '1.1' && headers.host === undefined) return 'Header host is missing'
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return 'Header transfer-encoding needs HTTP/1.1'
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (framing.has(name) && seen.has(name)) return `Header ${name} is given more than once`
    seen.add(name)
  }
  return null
}

/** Skips codings that do not end in chunked: Node's parser rejects them, because such a request has no end. */
function hasOtherCoding({ headers }: IncomingMessage): boolean {
  const codings = (headers['transfer-encoding'] ?? '').split(',')
  return codings.length > 1 && codings.at(-1)?.trim().toLowerCase() === 'chunked'
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: 400 | 431 | 501, error: string): void {
  const body = JSON.stringify({ error })
  const given = incoming.headers['x-request-id']
  const requestId = requestIdOf(typeof given === 'string' ? given : null)
  outgoing.writeHead(status, { ...closing, [requestIdHeader]: requestId, 'Content-Length': Buffer.byteLength(body) })
  outgoing.end(body)
}

function answerUnreadable(error: unknown, isTheirs: boolean, logger: Logger): Response {
  const requestId = requestIdOf(null)
  if (!isTheirs) logger.error({ requestId, ...describeError(error) }, 'A request failed outside the app.')
  const body = JSON.stringify({ error: isTheirs ? 'Request is malformed' : 'Internal error' })
  return new Response(body, { status: isTheirs ? 400 : 500, headers: { ...closing, [requestIdHeader]: requestId } })
}
