/** Receives deliveries on Node's own server, from the stream or from bytes that a parser kept. @module */
import { concat, isRaw, maxDiscardedBytes, parseContentLength, toBytes } from '../read-body.js'
import { createTooLargeError, createUnreadableError, type HandlerOptions, resolveSettings } from './handler-options.js'
import { type AnyRequest, answer, notRaw } from './internal/answer.js'

/** A request on which parsers leave a body. */
export interface ParsedRequest {
  readonly body?: unknown
  /** The bytes, where a parser kept them. */
  readonly rawBody?: unknown
}

/** A request: `IncomingMessage` of `node:http` or `node:http2`. */
export interface NodeRequest extends ParsedRequest {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly readableDidRead?: boolean
  readonly readableEnded?: boolean
  readonly destroyed?: boolean
  on(event: string, listener: (value?: unknown) => void): unknown
  resume(): unknown
  destroy(): unknown
}

/** A response: `ServerResponse` of `node:http` or `node:http2`. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** A listener for requests. It never rejects. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/**
 * Adapts a Node request: an unread stream, or else the bytes that a parser kept as `rawBody` or `body`.
 * Text is rejected: decoding has changed any bytes that were not UTF-8.
 * @param parsedRequests - The framework's own requests, on which its parsers leave a body.
 */
export function adaptRequest(request: NodeRequest, parsedRequests: readonly ParsedRequest[], cure: string): AnyRequest {
  const isConsumed = () => request.readableDidRead === true
  const keptBody = isConsumed() ? findKeptBytes(parsedRequests) : undefined
  return {
    method: request.method ?? '',
    headers: request.headers,
    declaredBytes: keptBody?.byteLength ?? parseContentLength(request.headers['content-length']),
    nonRawKind: isConsumed() && keptBody === undefined ? describeNonRaw(parsedRequests) : undefined,
    cure,
    async read(maxBytes, signal) {
      if (keptBody !== undefined) return keptBody
      // Other code may have read from the stream since the request arrived.
      if (isConsumed()) throw notRaw(describeNonRaw(parsedRequests), cure)
      return readStream(request, maxBytes, signal, cure)
    },
  }
}

/** Prefers bytes that are not empty, because a parser that skipped the request leaves empty bytes. */
function findKeptBytes(parsedRequests: readonly ParsedRequest[]): Uint8Array | undefined {
  const keptBodies = parsedRequests.flatMap(({ rawBody, body }) => [rawBody, body]).filter(isRaw)
  const raw = keptBodies.find(({ byteLength }) => byteLength > 0) ?? keptBodies[0]
  return raw && toBytes(raw)
}

function describeNonRaw(parsedRequests: readonly ParsedRequest[]): string {
  const parsed = parsedRequests.map(({ body }) => body).find((body) => body !== undefined)
  if (parsed === undefined) return 'a stream that something else has read from'
  return typeof parsed === 'string' ? 'decoded text' : 'an object, so something parsed it'
}

/** Listens to events: an iterator that stops early would destroy the request, and its connection would stall. */
function readStream(request: NodeRequest, maxBytes: number, signal: AbortSignal, cure: string): Promise<Uint8Array> {
  if (request.readableEnded === true) return Promise.resolve(new Uint8Array())
  if (request.destroyed === true) return Promise.reject(createUnreadableError())
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    let isSettled = false
    const settle = (done: () => void) => {
      isSettled = true
      chunks.length = 0
      done()
    }
    request.on('data', (chunk: unknown) => {
      if (isSettled) return
      if (!ArrayBuffer.isView(chunk)) return settle(() => reject(notRaw('decoded text', cure)))
      length += chunk.byteLength
      if (length > maxBytes) return settle(() => reject(createTooLargeError(maxBytes)))
      chunks.push(toBytes(chunk))
    })
    request.on('end', () => {
      if (isSettled) return
      const bytes = concat(chunks, length)
      settle(() => resolve(bytes))
    })
    for (const event of ['error', 'close'] as const)
      request.on(event, (cause: unknown) => isSettled || settle(() => reject(createUnreadableError(cause))))
    signal.addEventListener('abort', () => isSettled || settle(() => reject(signal.reason)))
    request.resume()
  })
}

/**
 * Discards the rest of a body after the answer. Many senders listen only after their last byte, and the connection can
 * then serve the next request. A body that is longer or slower than the limits is cut off.
 * @param limitMs - Longest time for the rest, in milliseconds.
 */
export function drain(request: NodeRequest, limitMs: number): void {
  if (request.readableEnded === true || request.destroyed === true) return
  let length = 0
  const timer = setTimeout(() => request.destroy(), limitMs)
  timer.unref?.()
  request.on('data', (chunk: unknown) => {
    length += ArrayBuffer.isView(chunk) ? chunk.byteLength : String(chunk).length
    if (length > maxDiscardedBytes) request.destroy()
  })
  for (const event of ['end', 'close', 'error'] as const) request.on(event, () => clearTimeout(timer))
  request.resume()
}

/** @param cure - The instruction that helps when something consumed the body. */
export function serveNode(options: HandlerOptions, cure: string): NodeHandler {
  const settings = resolveSettings(options)
  return async (request, response) => {
    const { status, headers, body } = await answer(adaptRequest(request, [request], cure), settings)
    drain(request, settings.deadlineMs)
    // A time-out of the host may have answered first.
    if (response.headersSent) return
    response.statusCode = status
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.end(body)
  }
}

/**
 * Creates a listener for `node:http`, `node:https` and `node:http2`; route by path before you call it.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createServer } from 'node:http'
 * import { createNodeHandler } from '@payment-integration/webhook/node'
 * import { receive } from './receive.js'
 * createServer(createNodeHandler({ receive })).listen(4000)
 */
export function createNodeHandler(options: HandlerOptions): NodeHandler {
  return serveNode(options, 'Call the handler before anything else reads the request.')
}
