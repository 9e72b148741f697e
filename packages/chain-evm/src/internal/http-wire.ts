/** JSON-RPC over HTTP, with connections that are kept. @module */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { HttpStatusError, StaleConnectionError, TooLargeError } from './failures.js'
import { splitUrl } from './url-parts.js'
import { decodeAnswer, encodeCalls, type RpcOutcome, type Wire } from './wire.js'

/** How to reach the node. */
export interface HttpWireOptions {
  /** `http:` or `https:`; credentials become a Basic header. */
  readonly url: string
  /** Largest accepted answer, unpacked, in bytes. */
  readonly maxResponseBytes: number
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | null
  readonly text: string
}

/**
 * Opens a way to a node. Nothing is sent yet. Redirects are not followed: what we send may hold a key.
 */
export function httpWire({ url: text, maxResponseBytes }: HttpWireOptions): Wire {
  const { url, headers } = splitUrl(text)
  const far = url.protocol === 'https:'
  const agent = far ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const open = far ? requestHttps : requestHttp
  const fixed = {
    ...headers,
    'content-type': 'application/json',
    'user-agent': 'payment-integration',
    // Packing costs a node beside us more time than it saves.
    ...(far ? { 'accept-encoding': 'gzip' } : {}),
  }
  let lastId = 0

  function exchange(body: Buffer, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = open(url, {
        agent,
        signal,
        method: 'POST',
        headers: { ...fixed, 'content-length': body.length },
      })
      let response: IncomingMessage | undefined
      request.on('response', (arrived) => {
        response = arrived
        readAnswer(arrived, maxResponseBytes).then(resolve, (error: unknown) => {
          arrived.destroy()
          reject(error)
        })
      })
      request.on('error', (error) => {
        const isStale = request.reusedSocket && response === undefined && !signal.aborted
        reject(isStale ? new StaleConnectionError() : error)
      })
      request.end(body)
    })
  }

  return {
    async send(calls, signal) {
      const firstId = lastId + 1
      lastId += calls.length
      const body = Buffer.from(encodeCalls(calls, firstId))
      return toOutcomes(await exchange(body, signal), firstId, calls.length)
    },
    close: () => agent.destroy(),
  }
}

function toOutcomes({ status, retryAfter, text }: Answer, firstId: number, count: number): (RpcOutcome | null)[] {
  if (status >= 200 && status < 300)
    return decodeAnswer(text === '' ? {} : (JSON.parse(text) as unknown), firstId, count)
  // A lone call may be refused by a status and a JSON-RPC error together; that of a batch is not about one of its calls.
  const refusal = count === 1 && status !== 429 ? refusalIn(text) : null
  if (refusal === null) throw new HttpStatusError(status, retryAfter)
  return [refusal]
}

function refusalIn(text: string): RpcOutcome | null {
  try {
    const [outcome] = decodeAnswer(JSON.parse(text), 0, 1)
    return outcome === undefined || outcome === null || outcome.ok || outcome.code === null ? null : outcome
  } catch {
    return null
  }
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  const { statusCode: status = 0, headers } = response
  if (Number(headers['content-length']) > maxBytes) throw new TooLargeError(maxBytes)
  const body: Readable = headers['content-encoding'] === 'gzip' ? unpacked(response) : response
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new TooLargeError(maxBytes)
    chunks.push(chunk)
  }
  return { status, retryAfter: headers['retry-after'] ?? null, text: Buffer.concat(chunks, size).toString('utf8') }
}

function unpacked(response: IncomingMessage): Readable {
  const gunzip = createGunzip()
  response.on('error', (error) => gunzip.destroy(error))
  return response.pipe(gunzip)
}
