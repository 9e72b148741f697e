/**
 * Runs blocks of the guide to frameworks, each on its own port, and prints the ports in the order of the files.
 * A block that listens starts itself; for one that exports a handler, this plays its platform.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import type { LambdaHandler } from '../../src/exports/lambda.js'
import { findFreePort } from '../free-port.js'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown
type FetchFunction = (request: Request, ...more: unknown[]) => Promise<Response>

/** The exports of a block. */
interface Exported {
  readonly POST?: FetchFunction
  readonly handler?: LambdaHandler
  readonly default?: Listener | { readonly fetch: FetchFunction }
}

/** A function URL, as far as a delivery needs one. */
function functionUrl(handler: LambdaHandler): Listener {
  return async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = (await buffer(request)).toString('base64')
    const event = { headers, requestContext: { http: { method: 'POST' } }, body, isBase64Encoded: true }
    const { statusCode, headers: given, body: text } = await handler(event)
    response.writeHead(statusCode, given).end(text)
  }
}

function getPlatform({ POST, handler, default: main }: Exported): Listener | undefined {
  if (POST !== undefined) return getRequestListener((request) => POST(request), { overrideGlobalObjects: false })
  if (handler !== undefined) return functionUrl(handler)
  if (typeof main !== 'object') return main
  const context = { waitUntil: () => undefined }
  return getRequestListener((request) => main.fetch(request, process.env, context), { overrideGlobalObjects: false })
}

for (const file of process.argv.slice(2)) {
  const port = await findFreePort()
  process.env['PORT'] = `${port}`
  const listener = getPlatform((await import(pathToFileURL(file).href)) as Exported)
  if (listener !== undefined) await once(createServer(listener).listen(port), 'listening')
  process.stdout.write(`port ${port}\n`)
}
