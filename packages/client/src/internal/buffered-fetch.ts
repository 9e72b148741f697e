/** Sends the requests of ky through the caller's `fetch`, and reads the whole answer. @module */
import { ExcessiveJsonError, parseRetryAfter, readForeignBytes } from '@payment-integration/contract/internal-io'
import { InvalidResponseError, NetworkError } from '../errors.js'
import type { FetchedResponse, Transport } from '../transport-options.js'
import { hideTexts } from './check.js'

/** The form of error codes of the operating system and of undici. A text of this form is no secret. */
const codeForm = /^[A-Z][A-Z_]{2,60}$/
/** Words and forms that indicate credentials of this client or of a proxy. */
const credentialForm = /\b(?:authorization|basic|bearer)\b|:\/\/[^/\s]{0,200}@/i
/** Longest part of a foreign error's messages that a NetworkError repeats. */
const maxShownCharacters = 200

export interface BufferedFetchOptions extends Pick<Transport, 'fetch' | 'maxResponseBytes' | 'clock'> {
  /** Whether the body of an answer with this status is read. Any other body is canceled, which frees the connection. */
  readonly hasBody: (status: number) => boolean
  /** Texts that no error may show. */
  readonly secrets: readonly string[]
}

/**
 * Creates the `fetch` that ky calls. It resolves only when the body has arrived, so time limits and retries of ky
 * cover the body. It rejects at once when the request is aborted, even if the caller's `fetch` ignores signals.
 * The caller's `fetch` gets a URL, never a `Request`: a `fetch` of another realm or package rejects our `Request`.
 */
export function createBufferedFetch(options: BufferedFetchOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const { signal } = request
    if (signal.aborted) throw signal.reason
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return Promise.race([exchange(request, options), aborted])
  }
}

async function exchange(request: Request, options: BufferedFetchOptions): Promise<Response> {
  const { fetch, maxResponseBytes, clock, hasBody, secrets } = options
  const { url, method, signal } = request
  const headers = Object.fromEntries(request.headers)
  const body = request.body === null ? {} : { body: await request.text() }
  const answer = await callNetwork(secrets, () => fetch(url, { method, headers, ...body, signal, redirect: 'manual' }))
  const { status } = answer
  const isRedirect = (status >= 300 && status < 400) || answer.type === 'opaqueredirect'
  // `Response` accepts only statuses from 200 to 599.
  if (isRedirect || status < 200 || status > 599) {
    dropBody(answer)
    throw new InvalidResponseError(isRedirect ? 'redirect' : 'status', status)
  }
  const waitMs = parseRetryAfter(answer.headers.get('retry-after'), clock.now())
  // Only this header, in plain seconds: ky also reads other headers, and misreads some of their forms.
  const init = { status, headers: waitMs === null ? {} : { 'retry-after': String(waitMs / 1_000) } }
  if (hasBody(status))
    return new Response(await callNetwork(secrets, () => readForeignBytes(answer, maxResponseBytes), status), init)
  dropBody(answer)
  return new Response(null, init)
}

/** Runs a step that needs the network, and throws its failures as errors of this package. */
async function callNetwork<T>(secrets: readonly string[], work: () => Promise<T>, status = 0): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ExcessiveJsonError
      ? new InvalidResponseError('too_large', status)
      : toNetworkError(error, secrets)
  }
}

/** Compares shapes, not classes: the error of a caller's `fetch` may come from another realm. */
function toNetworkError(error: unknown, secrets: readonly string[]): NetworkError {
  let reason: string | null = null
  const texts: string[] = typeof error === 'string' ? [error] : []
  for (let current = error, depth = 0; typeof current === 'object' && current !== null && depth < 5; depth += 1) {
    const { code, message, cause } = current as { code?: unknown; message?: unknown; cause?: unknown }
    if (reason === null && typeof code === 'string' && codeForm.test(code)) reason = code
    if (typeof message === 'string' && message !== '') texts.push(message)
    current = cause
  }
  const text = texts.join(': ')
  const isSecret = credentialForm.test(text) || hideTexts(text, secrets) !== text
  const shown = text.replace(/\p{C}+/gu, ' ').slice(0, maxShownCharacters)
  return new NetworkError(reason, isSecret || shown === '' ? null : shown)
}

/** Cancels an unread body. A failed cancel changes nothing: the answer is rejected either way. */
function dropBody(response: FetchedResponse): void {
  response.body?.cancel().catch(() => undefined)
}
