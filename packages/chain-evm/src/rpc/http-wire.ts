/** JSON-RPC over HTTP, with keep-alive connections and reused buffers. @module */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { parseContentLength, parseForeignJson } from '@payment-integration/contract/internal-io'
import { HttpStatusError, ResponseTooLargeError, StaleConnectionError, splitUrl } from './failures.js'
import type { RpcCall, RpcOutcome, Wire, WireOptions } from './wire.js'
import { computeMaxAnswerBytes, decodeAnswer, encodeCalls, isLargeError, maxErrorBytes } from './wire.js'

const minBufferBytes = 65_536
/** Larger buffers are not reused. */
const maxSpareBytes = 4_194_304
/** One spare buffer for each of the usual parallel requests. */
const maxSpareBuffers = 3

type BodyBuffers = ReturnType<typeof createBodyBuffers>

export function createBodyBuffers() {
  const spare: Buffer[] = []

  function acquire(length: number): Buffer {
    const buffer = spare.pop()
    if (buffer !== undefined && buffer.length >= length) return buffer
    let size = minBufferBytes
    while (size < length) size *= 2
    return Buffer.allocUnsafeSlow(size)
  }

  return {
    /**
     * Reads a body to its end.
     * @param declaredBytes - The Content-Length, or 0.
     * @param isCompressed - Whether `declaredBytes` is the compressed length.
     * @throws {@link ResponseTooLargeError} When the body is larger than `maxBytes`.
     */
    async readBody(body: Readable, declaredBytes: number, isCompressed: boolean, maxBytes: number): Promise<Buffer> {
      if (declaredBytes > maxBytes) throw new ResponseTooLargeError(maxBytes)
      let target = acquire(isCompressed ? 0 : declaredBytes)
      let size = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        if (size + chunk.length > maxBytes) throw new ResponseTooLargeError(maxBytes)
        if (size + chunk.length > target.length) {
          const larger = acquire(Math.max(size + chunk.length, target.length * 2))
          target.copy(larger, 0, 0, size)
          target = larger
        }
        chunk.copy(target, size)
        size += chunk.length
      }
      return target.subarray(0, size)
    },
    /** Allows reuse of a buffer of `readBody`; nothing may point into it any more. */
    release({ buffer }: Buffer): void {
      if (spare.length < maxSpareBuffers && buffer.byteLength <= maxSpareBytes) spare.push(Buffer.from(buffer))
    },
  }
}

/** `body` is a buffer of `readBody`; the caller releases it. */
type Answer = Awaited<ReturnType<typeof readAnswer>>

/**
 * Makes a wire over `node:http`, which unlike undici reports whether a broken connection was a reused one. Redirects
 * are not followed, because a request may hold a key.
 */
export function createHttpWire({ url: text, maxResponseBytes }: WireOptions): Wire {
  const { url, headers } = splitUrl(text)
  const isHttps = url.protocol === 'https:'
  const agent = isHttps ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const open = isHttps ? requestHttps : requestHttp
  const fixedHeaders = {
    ...headers,
    'content-type': 'application/json',
    'user-agent': 'payment-integration',
    // `http:` is usually a local connection, where compression costs more time than it saves.
    ...(isHttps ? { 'accept-encoding': 'gzip' } : {}),
  }
  const buffers = createBodyBuffers()
  let lastId = 0
  let receivedBytes = 0

  function exchange(body: Buffer, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { agent, signal, method: 'POST', headers: { ...fixedHeaders, 'content-length': body.length } }
      const request = open(url, options)
      let response: IncomingMessage | undefined
      request.on('response', (arrived) => {
        response = arrived
        readAnswer(arrived, buffers, maxBytes).then(resolve, (error: unknown) => {
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
      const answer = await exchange(body, computeMaxAnswerBytes(calls, maxResponseBytes), signal)
      receivedBytes += answer.body.length
      try {
        return toOutcomes(answer, firstId, calls)
      } finally {
        buffers.release(answer.body)
      }
    },
    receivedBytes: () => receivedBytes,
    close: () => agent.destroy(),
  }
}

function toOutcomes({ status, retryAfter, body }: Answer, firstId: number, calls: readonly RpcCall[]) {
  const count = calls.length
  if (isSuccess(status)) {
    if (isLargeError(body)) throw new ResponseTooLargeError(maxErrorBytes)
    return decodeAnswer(body.length === 0 ? {} : parseForeignJson(body), firstId, count)
  }
  // With an HTTP error status, a JSON-RPC error in the body is the answer to a call that was sent alone. After a batch
  // it belongs to no particular call, and with 429 the status says more.
  const rejection = count === 1 && status !== 429 ? parseRejection(body) : null
  if (rejection === null) throw new HttpStatusError(status, retryAfter)
  return [rejection]
}

function parseRejection(body: Buffer): RpcOutcome | null {
  try {
    const [outcome] = decodeAnswer(parseForeignJson(body), 0, 1)
    return outcome === undefined || outcome === null || outcome.ok || outcome.code === null ? null : outcome
  } catch {
    return null
  }
}

async function readAnswer(response: IncomingMessage, buffers: BodyBuffers, maxBytes: number) {
  const { statusCode: status = 0, headers } = response
  const isCompressed = gzipNames.has(headers['content-encoding']?.toLowerCase() ?? '')
  const stream: Readable = isCompressed ? unzip(response) : response
  const retryAfter = headers['retry-after'] ?? null
  const limit = isSuccess(status) ? maxBytes : Math.min(maxErrorBytes, maxBytes)
  try {
    const body = await buffers.readBody(stream, parseContentLength(headers['content-length']) ?? 0, isCompressed, limit)
    return { status, retryAfter, body }
  } catch (error) {
    // The HTTP status is more useful than the size of its body.
    throw error instanceof ResponseTooLargeError && !isSuccess(status) ? new HttpStatusError(status, retryAfter) : error
  }
}

/** Two names of one coding (RFC 9110 8.4.1). */
const gzipNames: ReadonlySet<string> = new Set(['gzip', 'x-gzip'])

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function unzip(response: IncomingMessage): Readable {
  const gunzip = createGunzip()
  response.on('error', (error) => gunzip.destroy(error))
  return response.pipe(gunzip)
}
