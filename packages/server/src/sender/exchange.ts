/** Runs one request and its answer within one timeout. Source: docs/interface.md 6 (5 seconds, any 2xx). @module */
import { TIMEOUT } from 'node:dns'
import { MalformedAnswerError, parseContentLength } from '@payment-integration/contract/internal-io'
import { excerptBytes } from '@payment-integration/core/internal'
import type { PostFailure, PostRequest, PostResult } from '@payment-integration/core/ports'
import { type Dispatcher, errors } from 'undici'
import { ServerError } from '../errors.js'
import { AddressRejectedError } from './guarded-connector.js'

/** Control characters except line feed and tab, and characters that change the text direction. */
const unprintable = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Collects the beginning of a body. */
export function createExcerpt() {
  let beginning = Buffer.alloc(0)
  let size = 0
  return {
    /** Bytes of the body so far. */
    size: () => size,
    add(chunk: Uint8Array): void {
      // A copy, so that one kilobyte does not retain a socket buffer.
      if (size < excerptBytes) beginning = Buffer.concat([beginning, chunk.subarray(0, excerptBytes - size)])
      size += chunk.length
    },
    /**
     * The first `excerptBytes` as text; null if none arrived. A compressed body is not decompressed; its bytes are read
     * as text. Terminal control characters are removed.
     */
    text(): string | null {
      if (size === 0) return null
      // A character split by the cut is dropped, not shown as a flaw of the answer.
      return new TextDecoder().decode(beginning, { stream: size > beginning.length }).replace(unprintable, '')
    },
  }
}

export interface Target {
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** The timeout of one attempt has passed. */
class PostTimeoutError extends ServerError {
  override readonly name = 'PostTimeoutError'
  readonly code = 'ERR_POST_TIMEOUT'
  override readonly retryable = true
}

/** The most bytes of a body that are read; a longer body closes its connection. */
const maxReadBytes = 16 * 1024

/**
 * Posts and waits for the answer: until its body ends, breaks or exceeds {@link maxReadBytes}, or the timeout passes.
 * The timeout counts from `startedAt` (of `performance.now()`). Once the status arrives in time, a broken body cannot
 * change the result. Never rejects.
 * Uses undici's dispatch events: they need no stream, and the timeout also ends a wait for a connection, which an abort
 * signal would not end.
 */
export function exchange(
  agent: Dispatcher,
  target: Target,
  post: PostRequest,
  times: ExchangeTimes,
): Promise<PostResult> {
  return new Promise((resolve) => new Exchange(post, times, resolve).begin(agent, target))
}

/** Start of an exchange, and the time limits of its parts. */
interface ExchangeTimes {
  /** Of `performance.now()`. */
  readonly startedAt: number
  /**
   * The longest time from the head of a 2xx to the end of its body, in milliseconds. A body that ends in time leaves
   * its connection reusable.
   */
  readonly successBodyMs: number
}

interface Head {
  readonly status: number
  readonly retryAfter: string | null
  readonly latencyMs: number
}

/** A class, because thousands start each second: closures per exchange would be most of the garbage. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #post: PostRequest
  readonly #times: ExchangeTimes
  readonly #resolve: (result: PostResult) => void
  #controller: Dispatcher.DispatchController | undefined
  #head: Head | undefined
  /** The beginning of the body; undefined until a byte arrives. */
  #excerpt: ReturnType<typeof createExcerpt> | undefined
  #timer: NodeJS.Timeout | undefined
  #onAbort: (() => void) | undefined
  #isSettled = false

  constructor(post: PostRequest, times: ExchangeTimes, resolve: (result: PostResult) => void) {
    this.#post = post
    this.#times = times
    this.#resolve = resolve
  }

  begin(agent: Dispatcher, { origin, path }: Target): void {
    const { headers, body, timeoutMs, signal } = this.#post
    this.#timer = setTimeout(endByTimeout, timeoutMs, this)
    if (signal !== undefined) {
      this.#onAbort = () => this.end(new Error('The caller aborted.'))
      signal.addEventListener('abort', this.#onAbort, { once: true })
    }
    if (signal?.aborted) this.end(new Error('The caller aborted.'))
    else agent.dispatch({ origin, path, method: 'POST', headers, body }, this)
  }

  /** Settles with the answer so far, and closes the connection. */
  end(error: Error): void {
    this.#settle(error)
    this.#controller?.abort(error)
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started
    if (this.#isSettled) started.abort(new PostTimeoutError())
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    fields: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const retryAfter = fields['retry-after']
    this.#head = {
      status,
      retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
      latencyMs: this.#latencyMs(),
    }
    if (status < 300) shortenTimeoutSoon(this)
    // A body that is too long is read until this turn of the event loop ends, for the bytes that came with the head.
    if ((parseContentLength(fields['content-length']) ?? 0) > maxReadBytes)
      setImmediate(() => this.end(new Error('The body is too long.')))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#excerpt ??= createExcerpt()
    this.#excerpt.add(chunk)
    if (this.#excerpt.size() > maxReadBytes) this.end(new Error('The body is too long.'))
  }

  onResponseEnd(): void {
    this.#settle(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(error)
  }

  /** Ends the body of a 2xx after `successBodyMs`, unless the timeout ends it sooner. */
  shortenTimeout(): void {
    if (this.#isSettled) return
    const { startedAt, successBodyMs } = this.#times
    if (this.#post.timeoutMs - (performance.now() - startedAt) <= successBodyMs) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(endByTimeout, successBodyMs, this)
  }

  #latencyMs(): number {
    return Math.round(performance.now() - this.#times.startedAt)
  }

  #settle(error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    if (this.#onAbort !== undefined) this.#post.signal?.removeEventListener('abort', this.#onAbort)
    if (this.#head === undefined) this.#resolve({ kind: 'failure', ...toFailure(error), latencyMs: this.#latencyMs() })
    else this.#resolve({ kind: 'answer', ...this.#head, excerpt: this.#excerpt?.text() ?? null })
  }
}

/** Exchanges whose 2xx arrived in this turn of the event loop. */
const answeredExchanges: Exchange[] = []

/** Waits one turn of the event loop: most bodies end in the packet of their head and need no second timer. */
function shortenTimeoutSoon(exchange: Exchange): void {
  if (answeredExchanges.push(exchange) > 1) return
  setImmediate(() => {
    for (const each of answeredExchanges.splice(0)) each.shortenTimeout()
  })
}

function endByTimeout(exchange: Exchange): void {
  exchange.end(new PostTimeoutError())
}

function toFailure(error: unknown): { readonly reason: PostFailure; readonly status?: number | null } {
  if (error instanceof AddressRejectedError) return { reason: 'rejected_address' }
  if (error instanceof MalformedAnswerError) return { reason: 'malformed_answer', status: error.status }
  if (error instanceof PostTimeoutError || error instanceof errors.ConnectTimeoutError) return { reason: 'timeout' }
  return { reason: (error as NodeJS.ErrnoException | null)?.code === TIMEOUT ? 'timeout' : 'connection' }
}
