/** Sends through a function such as `fetch`, for receivers without a socket. @module */
import { parseHttpDate } from '@payment-integration/contract/parse'
import type { SignedDelivery } from '../deliveries/create-deliveries.js'
import type { SocketAnswer } from './report.js'
import { failureOf, nothing, type Sender, type SenderOptions, withUserAgent } from './send.js'

/** The request that {@link DoctorFetch} receives beside the URL. */
export interface DoctorRequest {
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** The answer of {@link DoctorFetch}: a `Response` fits. */
export interface DoctorResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** A stream with `cancel` is cancelled unread, so that its connection is free. */
  readonly body?: unknown
}

/** Delivers one request, such as `fetch`, or a function that calls the handler under test. */
export type DoctorFetch = (url: string, request: DoctorRequest) => Promise<DoctorResponse>

/** Creates the sender of a function. It has no sockets. */
export function createFetchSender(fetch: DoctorFetch, { url, waitMs, signal, now }: SenderOptions): Sender {
  async function send({ headers, body }: SignedDelivery): Promise<SocketAnswer> {
    signal?.throwIfAborted()
    const begun = performance.now()
    const stop = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let end = () => {}
    const late = new Promise<null>((resolve) => {
      end = () => {
        stop.abort(signal?.reason)
        resolve(null)
      }
      timer = setTimeout(end, waitMs)
      signal?.addEventListener('abort', end, { once: true })
    })
    const request = { method: 'POST', headers: withUserAgent(headers), body, redirect: 'manual' } as const
    const answered = fetch(url.href, { ...request, signal: stop.signal })
    const ended = answered.then(
      (response) => {
        release(response.body)
        return { response, error: null }
      },
      (error: unknown) => ({ response: null, error }),
    )
    const first = await Promise.race([ended, late])
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    const ms = Math.round(performance.now() - begun)
    signal?.throwIfAborted()
    if (first === null) return { ...nothing, ms, noAnswer: 'timeout' }
    if (first.response === null) return { ...nothing, ms, ...failureOf(causeOf(first.error)) }
    const { status, headers: got } = first.response
    return {
      ...nothing,
      ms,
      status,
      location: got.get('location'),
      retryAfter: got.get('retry-after'),
      date: parseHttpDate(got.get('date') ?? '', now()),
      wantsLogin: got.get('www-authenticate') !== null,
    }
  }
  return { send, sockets: null }
}

/** Cancels a body: only the head of an answer counts. One that someone else reads is left alone. */
function release(body: unknown): void {
  // No `instanceof`: the caller's fetch may answer with a stream of another realm.
  const { locked, cancel } = Object(body) as Partial<ReadableStream>
  if (locked === false && typeof cancel === 'function') cancel.call(body).catch(() => undefined)
}

/** `fetch` puts the system's error into `cause`. */
function causeOf(error: unknown): unknown {
  const { cause } = Object(error) as { cause?: unknown }
  return (Object(cause) as { code?: unknown }).code === undefined ? error : cause
}
