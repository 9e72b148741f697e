/**
 * Hosts a generated handler as its platform does: passes requests to a route of Next, or as events to a function of
 * AWS Lambda. Usage: platform-host.ts next-app|next-pages|lambda <file>
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import type { LambdaHandler } from '@payment-integration/webhook/lambda'

const [, , kind = '', file = ''] = process.argv
const loaded = await import(pathToFileURL(file).href)
// A CommonJS module that was loaded as an ES module has its exports below `default` too.
const exported = loaded.handler || loaded.POST || loaded.config ? loaded : loaded.default

const hosts: Record<string, () => RequestListener> = {
  'next-app': () =>
    getRequestListener((request) =>
      request.method === 'POST' ? exported.POST(request) : new Response(null, { status: 405 }),
    ),
  'next-pages': () => (typeof exported.default === 'function' ? exported.default : exported.default.default),
  lambda: () => (request, response) => {
    // The platform invokes no function for a request that arrives in part.
    invoke(request, response).catch(() => response.destroy())
  },
}

const listener = hosts[kind]?.()
if (listener === undefined) throw new Error(`There is no host for ${kind}.`)
const server = createServer(listener).listen(0, '127.0.0.1', () => {
  const address = server.address()
  const path = kind === 'next-pages' ? '/api/webhook' : '/webhook'
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : address}${path}\n`)
})

async function invoke(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { statusCode, headers, body } = await (exported.handler as LambdaHandler)(await makeEvent(request))
  response.writeHead(statusCode, headers).end(body)
}

/** Payload 2.0, as a function URL sends it. */
async function makeEvent(request: IncomingMessage) {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const body = (await buffer(request)).toString('base64')
  return { requestContext: { http: { method: request.method ?? '' } }, headers, body, isBase64Encoded: true }
}
