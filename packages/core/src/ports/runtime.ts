/** The ports for time, ids, randomness, logs, files and POSTs; the system's time, ids and randomness. @module */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { parseContentLength } from '@payment-integration/contract/internal-io'
import { MissingPackageError, RequestBodyError } from '../errors.js'

/** Time and waits. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Randomness. Secrets need a cryptographic source; jitter does not. */
export interface RandomSource {
  /** `length` cryptographically random bytes. */
  bytes(length: number): Uint8Array
  /** A number in [0, 1). */
  fraction(): number
}

/** Ids, such as a store's lease tokens. */
export interface IdSource {
  /** A new id, unique in this deployment and not guessable. */
  next(): string
}

/** Logs events for operators. Fields never contain secrets, bodies or signatures. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** Writes one file. One call at a time. */
export interface FileWriter {
  /** File name without a folder. */
  readonly name: string
  write(content: Uint8Array): Promise<void>
  /** Makes the file durable under its name. */
  finish(): Promise<void>
  /** Removes an unfinished file. Never rejects. */
  discard(): Promise<void>
}

/** Reads one file. */
export interface FileReader {
  /** Names the file in messages. */
  readonly path: string
  /**
   * The content, from its beginning, in chunks of any size; may be called again. Its memory use is bounded.
   * @throws ArchiveError `ERR_ARCHIVE` when the file cannot be read. The signal's reason when it aborts.
   */
  chunks(signal?: AbortSignal): AsyncIterable<Uint8Array>
}

/**
 * Loads a package that only some configurations need; the error names the `setting`. Other errors pass through.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when the package is not installed.
 */
export async function loadPackage<T>(name: string, setting: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.startsWith(`Cannot find package '${name}' `)) throw error
    throw new MissingPackageError(name, setting)
  }
}

/** Reads a body. @throws RequestBodyError `ERR_BODY_TOO_LARGE`; `ERR_BODY_INCOMPLETE` when the client stops. */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const createTooLargeError = () => new RequestBodyError('ERR_BODY_TOO_LARGE', `Body is larger than ${maxBytes} bytes`)
  const declaredBytes = parseContentLength(request.headers.get('content-length'))
  if (declaredBytes !== null && declaredBytes > maxBytes) throw createTooLargeError()
  // The HTTP library reads a whole body several times faster than a stream. Not every host enforces `Content-Length`.
  if (declaredBytes !== null) {
    const body = new Uint8Array(await request.arrayBuffer().catch(throwIncomplete))
    if (body.byteLength > maxBytes) throw createTooLargeError()
    return body
  }
  if (request.body === null) return new Uint8Array(0)
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch(throwIncomplete)
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > maxBytes) {
      reader.cancel().catch(() => undefined)
      throw createTooLargeError()
    }
    chunks.push(value)
  }
}

function throwIncomplete(): never {
  throw new RequestBodyError('ERR_BODY_INCOMPLETE', 'Body ended before it was complete')
}

/** The longest delay of `setTimeout`, in milliseconds; a longer one ends at once. Loops tolerate an early end. */
const maxTimerMs = 2_147_483_647

/** This machine's clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(ms, maxTimerMs))
      signal?.addEventListener('abort', end, { once: true })
    })
  },
}

/** The operating system's cryptographic randomness for bytes; `Math.random` for jitter. */
export const systemRandom: RandomSource = { bytes: (length) => randomBytes(length), fraction: () => Math.random() }
/** Random version 4 UUIDs. */
export const systemIds: IdSource = { next: () => randomUUID() }
/** A logger that discards everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** A clock for durations, not for times of day: when `clock` is set back, this one goes on from its newest time. */
export function createMonotonicClock(clock: Pick<Clock, 'now'>): Pick<Clock, 'now'> {
  let newest = Number.NEGATIVE_INFINITY
  let setBackMs = 0
  return {
    now() {
      const now = clock.now() + setBackMs
      if (now < newest) setBackMs += newest - now
      newest = Math.max(newest, now)
      return newest
    },
  }
}

/** A constant abort reason: the default one, an error with a stack, costs more than the sleep. */
const woken = 'woken'

export function createSleeper(clock: Pick<Clock, 'sleep'>) {
  let hasWake = false
  let sleeping: AbortController | null = null
  return {
    /** Ends the current sleep; without one, the next sleep ends at once, so that no wake is lost. */
    wake(): void {
      hasWake = true
      sleeping?.abort(woken)
    },
    forgetWake(): void {
      hasWake = false
    },
    /** Sleeps `ms` milliseconds (null: for ever), until a wake or an abort. Resolves whether woken; never rejects. */
    async sleep(ms: number | null, signal?: AbortSignal): Promise<boolean> {
      if (!hasWake && !signal?.aborted) {
        const controller = new AbortController()
        const stop = () => controller.abort(woken)
        sleeping = controller
        signal?.addEventListener('abort', stop, { once: true })
        await (ms === null ? once(controller.signal, 'abort') : clock.sleep(ms, controller.signal))
        signal?.removeEventListener('abort', stop)
        sleeping = null
      }
      const isWoken = hasWake
      hasWake = false
      return isWoken
    },
  }
}

/** One signed notification, ready to be posted. */
export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The exact bytes that were signed. */
  readonly body: Uint8Array
  /** Limit for DNS, connect, TLS, headers and body, in milliseconds. The body of a 2xx answer may be cut short. */
  readonly timeoutMs: number
  /** Aborts the POST. @default none */
  readonly signal?: AbortSignal | undefined
  /** The delivery of this attempt, for its trace. @default none: a test of an endpoint */
  readonly delivery?: PostedDelivery | undefined
}

/** Names a delivery and its attempt. */
export type PostedDelivery = {
  readonly chainId: number
  readonly txHash: string
  /** Lowercased. */
  readonly integrationAddress: string
  readonly deliveryId: string
  readonly version: number
  /** Number of the attempt: one more than the logged attempts. An attempt that was not settled is not logged. */
  readonly attempt: number
}

/** Why no usable HTTP answer arrived. Coarse, so that no receiver can map our network. */
export type PostFailure = 'timeout' | 'connection' | 'rejected_address' | 'malformed_answer'

/** The outcome of a POST: an answer, or why none arrived. */
export type PostResult =
  | {
      readonly kind: 'answer'
      /** HTTP status; redirects are not followed. */
      readonly status: number
      /** The `Retry-After` header as sent, or null. */
      readonly retryAfter: string | null
      /** Text of at most `excerptBytes` of the body, without control characters; null: none arrived in time. */
      readonly excerpt: string | null
      readonly latencyMs: number
    }
  | {
      readonly kind: 'failure'
      readonly reason: PostFailure
      /** HTTP status of a malformed answer; null when none was read. It decides nothing. @default null */
      readonly status?: number | null | undefined
      readonly latencyMs: number
    }

/** Posts a notification. Never rejects: every outcome is a result. */
export interface Sender {
  post(post: PostRequest): Promise<PostResult>
}
