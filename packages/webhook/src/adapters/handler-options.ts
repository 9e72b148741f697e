/**
 * Options and errors of every adapter. Source: docs/interface.md 6, delivery (2xx is success within 5 seconds).
 * @module
 */
import type { HeadersLike, RequestLike } from '../delivery.js'
import { resolveLimits } from '../delivery.js'
import { WebhookError } from '../errors.js'

/** The runtime's `Response`. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Type } } ? Type : object

/** The runtime's `AbortSignal`. */
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Type } }
  ? Type
  : { readonly aborted: boolean; readonly reason: unknown }

/** HTTP status by code. `ERR_BODY_NOT_RAW`, `_TOO_LARGE` and `_UNREADABLE` mean the same as for `verify`. */
const statusByCode = {
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_BODY_NOT_RAW: 500,
  ERR_BODY_TOO_LARGE: 413,
  ERR_BODY_UNREADABLE: 400,
  ERR_BODY_TIMEOUT: 408,
  ERR_RECEIVE_TIMEOUT: 503,
} as const

/**
 * A request for which `receive` gave no result; the message says what to do. The method is not POST, or the body is
 * not raw, too large, cut off or too slow (`ERR_BODY_TIMEOUT`), or `receive` missed the deadline
 * (`ERR_RECEIVE_TIMEOUT`).
 */
export class HandlerError extends WebhookError {
  override readonly name = 'HandlerError'
  readonly code: keyof typeof statusByCode
  readonly status: number
  /** True for `ERR_BODY_TIMEOUT` and `ERR_RECEIVE_TIMEOUT`. */
  readonly retryable: boolean
  constructor(code: keyof typeof statusByCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = statusByCode[code]
    this.retryable = code.endsWith('TIMEOUT')
  }
}

/** The body is larger than `maxBytes`. */
export function createTooLargeError(maxBytes: number): HandlerError {
  return new HandlerError(
    'ERR_BODY_TOO_LARGE',
    `The body is larger than ${maxBytes} bytes. Raise maxBytes of the handler and of the verifier if the service really sends such bodies.`,
  )
}

/** The body was cut off. */
export function createUnreadableError(cause?: unknown): HandlerError {
  return new HandlerError('ERR_BODY_UNREADABLE', 'The body could not be read to its end.', { cause })
}

/** A delivery for `verify`. Its body is read when `receive` asks for it, so rejected headers cost no reading. */
export interface IncomingDelivery extends RequestLike {
  readonly headers: HeadersLike
  /** Never true: the bytes are kept, and `arrayBuffer` may be called again. */
  readonly bodyUsed: false
  readonly body?: undefined
  /** The raw bytes, `maxBytes` at most. */
  arrayBuffer(): Promise<ArrayBuffer>
  /** Aborts at the deadline. Work may go on safely: the service retries, and the version store detects duplicates. */
  readonly signal: Signal
}

/**
 * The handler of deliveries, and its limits and listeners. An adapter itself answers 405 (`ERR_METHOD_NOT_ALLOWED`),
 * 408 (`ERR_BODY_TIMEOUT`), and after the deadline 503 (`ERR_RECEIVE_TIMEOUT`).
 */
export interface HandlerOptions {
  /**
   * Handles a delivery; the adapter answers 204 when it resolves. `receive` of `createReceiver` in
   * `@payment-integration/version-store` fits, and so does your own function that calls `verify` first.
   * A rejection of `verify` is answered with its status, a busy or locked database with 503, any other error with 500.
   */
  readonly receive: (delivery: IncomingDelivery) => Promise<unknown>
  /** Largest body that is read, in bytes; the verifier has a limit of its own. @default 262144 */
  readonly maxBytes?: number | undefined
  /** Longest time until the answer, in milliseconds; the service gives up after 5000. @default 4500 */
  readonly deadlineMs?: number | undefined
  /**
   * Called with each failure that you must fix: errors of `receive`, a missed deadline, a body that something parsed.
   * Also with rejections of signed deliveries (`ERR_SNAPSHOT_INVALID`, `ERR_INTEGRATION_MISMATCH`).
   * @default console.error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined
  /**
   * Called with each rejection that is answered with a 4xx. Strangers can cause all of these codes except the two that
   * also go to `onError`.
   * @default nothing
   */
  readonly onRejection?: ((rejection: WebhookError) => unknown) | undefined
}

/** The options, checked and complete. */
export type HandlerSettings = { readonly [Name in keyof HandlerOptions]-?: NonNullable<HandlerOptions[Name]> }

/**
 * Checks the options of an adapter.
 * @throws {TypeError} When `receive` or a listener is no function.
 * @throws {RangeError} When `maxBytes` or `deadlineMs` is out of range.
 */
export function resolveSettings(options: HandlerOptions): HandlerSettings {
  const { receive, deadlineMs = 4500, onError = report, onRejection = () => undefined } = options
  for (const [name, value] of Object.entries({ receive, onError, onRejection }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  if (!Number.isSafeInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > 60_000)
    throw new RangeError(`deadlineMs is ${deadlineMs}; pass whole milliseconds, 1 to 60000.`)
  const { maxBytes } = resolveLimits(options)
  return { receive, maxBytes, deadlineMs, onError, onRejection }
}

function report(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an unseen error is worse than a line on stderr; onError replaces it.
  console.error(error)
}
