/** Sends a request of ky by the caller's `fetch(url, init)`, and reads the whole answer. @module */
import { InvalidResponseError, NetworkError } from '../errors.js'
import type { FetchedResponse, Transport } from '../transport-options.js'
import { hideTexts } from './hide-texts.js'

/** The form of an error code, as of the system or of undici. A text of this form is no secret. */
const codeForm = /^[A-Z][A-Z_]{2,60}$/
/** Words and forms that come with credentials: of this client, or of a proxy. */
const credentialForm = /\b(?:authorization|basic|bearer)\b|:\/\/[^/\s]{0,200}@/i
/** Longest part of a foreign error's messages that a NetworkError repeats. */
const shownCharacters = 200

/** Options of a buffered fetch. */
export interface BufferedFetchOptions extends Pick<Transport, 'fetch' | 'maxResponseBytes' | 'now'> {
  /** The statuses whose body is read. Another body is dropped, which frees its connection. */
  readonly readStatuses: ReadonlySet<number>
  /** Texts that no error may show. */
  readonly secrets: readonly string[]
}

/**
 * Makes the `fetch` of ky. It resolves only when the body has arrived, so time limits and retries of ky cover the body.
 * It rejects at once when the request is aborted, even if the caller's `fetch` ignores signals.
 *
 * A `Request` never reaches the caller's function: the `fetch` of another realm or package rejects a foreign one.
 */
export function createBufferedFetch(options: BufferedFetchOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { signal } = request
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return Promise.race([exchange(request, options), aborted])
  }
}

async function exchange(request: Request, options: BufferedFetchOptions): Promise<Response> {
  const { fetch, maxResponseBytes, now, readStatuses, secrets } = options
  const { url, method, signal } = request
  const headers = Object.fromEntries(request.headers)
  const body = request.body === null ? {} : { body: await request.text() }
  const answer = await overNetwork(secrets, () => fetch(url, { method, headers, ...body, signal, redirect: 'manual' }))
  const { status } = answer
  const isRedirect = (status >= 300 && status < 400) || answer.type === 'opaqueredirect'
  // No other status has a place in a Response.
  if (isRedirect || status < 200 || status > 599) {
    dropBody(answer)
    throw new InvalidResponseError(isRedirect ? 'redirect' : 'status', status)
  }
  const retryAfter = parseRetryAfter(answer.headers.get('retry-after'), now())
  // Only this header, as plain seconds: ky would read more forms, some of them wrong, and more headers.
  const init = { status, headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) } }
  if (readStatuses.has(status))
    return new Response(await overNetwork(secrets, () => readBody(answer, maxResponseBytes)), init)
  dropBody(answer)
  return new Response(null, init)
}

/** Runs a step that the network can break. */
async function overNetwork<T>(secrets: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InvalidResponseError) throw error
    throw toNetworkError(error, secrets)
  }
}

/** Compares shapes, not classes: the error of a caller's `fetch` may come from another realm. */
function toNetworkError(error: unknown, secrets: readonly string[]): NetworkError {
  let reason: string | null = null
  const texts: string[] = typeof error === 'string' ? [error] : []
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const { code, message, cause } = at as { code?: unknown; message?: unknown; cause?: unknown }
    if (reason === null && typeof code === 'string' && codeForm.test(code)) reason = code
    if (typeof message === 'string' && message !== '') texts.push(message)
    at = cause
  }
  const text = texts.join(': ')
  const isSecret = credentialForm.test(text) || hideTexts(text, secrets) !== text
  const shown = text.replace(/\p{C}+/gu, ' ').slice(0, shownCharacters)
  return new NetworkError(reason, isSecret || shown === '' ? null : shown)
}

/** @throws {@link InvalidResponseError} Reason `too_large`, as soon as the body exceeds the limit. */
async function readBody(response: FetchedResponse, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) {
      reader.cancel().catch(() => undefined)
      throw new InvalidResponseError('too_large', response.status)
    }
    chunks.push(value)
  }
  const body = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.byteLength
  }
  return body
}

/** Cancels an unread body. A failed cancel changes nothing: the answer is rejected either way. */
function dropBody(response: FetchedResponse): void {
  response.body?.cancel().catch(() => undefined)
}

/**
 * Parses a `Retry-After` header, in seconds or as an HTTP date.
 * @returns Whole seconds from `now` (unix milliseconds); 0 for a past date; null when absent or malformed.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  // Date.parse accepts far more than HTTP dates ("-5" is a year), so the shape is checked first.
  if (!/^[A-Za-z]{3,9}, .+ GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000))
}
