/** Receives deliveries in a function from `Request` to `Response`, as in Bun, Deno, SvelteKit or Remix. @module */
import type { BodyReader } from '../delivery.js'
import { concat, maxDiscardedBytes, parseContentLength } from '../read-body.js'
import type { HandlerOptions, HandlerSettings, WebResponse } from './handler-options.js'
import { createTooLargeError, createUnreadableError, resolveSettings } from './handler-options.js'
import { type AnyRequest, answer, notRaw, type OnLateWork } from './internal/answer.js'

/** The used part of a fetch request, as in Node, Bun, Deno, Workers, Next or Hono. */
export interface FetchRequest {
  readonly method: string
  readonly headers: { get(name: string): string | null }
  readonly bodyUsed: boolean
  readonly body?: { readonly locked: boolean; getReader(): BodyReader } | null
  arrayBuffer(): Promise<ArrayBuffer>
}

/** Answers a request. It never rejects. */
export type FetchHandler = (request: FetchRequest) => Promise<WebResponse>

/** Answers a fetch request. */
export async function serveFetch(
  request: FetchRequest,
  settings: HandlerSettings,
  cure: string,
  onLateWork?: OnLateWork,
): Promise<WebResponse> {
  const { status, headers, body } = await answer(adaptFetchRequest(request, cure), settings, onLateWork)
  if (findNonRawKind(request) === undefined && request.body) discard(request.body.getReader(), settings.deadlineMs)
  return new Response(body === '' || request.method === 'HEAD' ? null : body, { status, headers })
}

function adaptFetchRequest(request: FetchRequest, cure: string): AnyRequest {
  return {
    method: request.method,
    headers: request.headers,
    declaredBytes: parseContentLength(request.headers.get('content-length')),
    nonRawKind: findNonRawKind(request),
    cure,
    read: (maxBytes, signal) => readRequest(request, maxBytes, signal, cure),
  }
}

function findNonRawKind(request: FetchRequest): string | undefined {
  if (request.bodyUsed) return 'a Request that something else has read'
  if (request.body?.locked === true) return 'a Request whose stream something else holds'
  return undefined
}

async function readRequest(
  request: FetchRequest,
  maxBytes: number,
  signal: AbortSignal,
  cure: string,
): Promise<Uint8Array> {
  // Other code may have read the body since the request arrived.
  const kind = findNonRawKind(request)
  if (kind !== undefined) throw notRaw(kind, cure)
  if (request.body === null) return new Uint8Array()
  // Runtimes without request streams have no `body` at all.
  if (request.body === undefined) {
    const buffer = await request.arrayBuffer().catch((cause) => Promise.reject(createUnreadableError(cause)))
    if (buffer.byteLength > maxBytes) throw createTooLargeError(maxBytes)
    return new Uint8Array(buffer)
  }

  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  // A failed cancellation changes nothing.
  const stop = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => Promise.reject(createUnreadableError(cause)))
      signal.throwIfAborted()
      if (done) return concat(chunks, length)
      if (value === undefined) continue
      length += value.byteLength
      if (length > maxBytes) {
        stop()
        throw createTooLargeError(maxBytes)
      }
      chunks.push(value)
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Discards a body that was rejected unread. Otherwise Node servers that wrap a fetch handler close the
 * connection, and the next delivery on it is lost. A body that is longer or slower than the limits is canceled.
 */
function discard(reader: BodyReader, limitMs: number): void {
  const stop = () => void reader.cancel().catch(() => undefined)
  const timer = setTimeout(stop, limitMs)
  timer.unref?.()
  const discardRest = async () => {
    for (let length = 0; length <= maxDiscardedBytes; ) {
      const { done, value } = await reader.read()
      if (done) return
      length += value?.byteLength ?? 0
    }
    stop()
  }
  discardRest()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}

/**
 * Creates a fetch handler.
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createFetchHandler } from '@payment-integration/webhook/fetch'
 * import { receive } from './receive.js'
 * export default { fetch: createFetchHandler({ receive }) } // Bun; in Deno: Deno.serve(handler)
 */
export function createFetchHandler(options: HandlerOptions): FetchHandler {
  const settings = resolveSettings(options)
  return (request) => serveFetch(request, settings, 'Let other code read request.clone().')
}
