/** What every adapter takes. Source: INTERFACE 6, delivery (2xx is success; the service waits 5 seconds). @module */
import type { HeadersLike, RequestLike } from '../delivery.js'
import { bodyDefaults, checkedLimits } from '../limits.js'
import type { Signal } from './globals.js'

/** A delivery whose body is read when `receive` asks for it, so that refused headers cost no reading. `verify` takes it as it is. */
export interface IncomingDelivery extends RequestLike {
  readonly headers: HeadersLike
  /** Never true: the bytes are kept, and `arrayBuffer` may be called again. */
  readonly bodyUsed: false
  readonly body?: undefined
  /** The raw bytes, `maxBytes` at most. */
  arrayBuffer(): Promise<ArrayBuffer>
  /** Aborted at the deadline. Work that goes on is safe: the service sends again, and versions decide. */
  readonly signal: Signal
}

/** What an adapter is made from. */
export interface HandlerOptions {
  /**
   * Takes a delivery, and resolves when it is dealt with: then the answer is 204. `receive` of `createReceiver` in
   * `@payment-integration/version-store` fits, and so does a function of yours that calls `verify` first.
   * A refusal of `verify` is answered with its status, anything else it throws with 500, or 503 when its `code` says busy.
   */
  readonly receive: (delivery: IncomingDelivery) => Promise<unknown>
  /** Largest body that is read, in bytes; the verifier has a limit of its own. @default 262144 */
  readonly maxBytes?: number | undefined
  /** The answer is given after this many milliseconds at the latest; the service gives up after 5000. @default 4500 */
  readonly deadlineMs?: number | undefined
  /**
   * Told of what you must mend: errors of `receive`, a missed deadline, a body that something parsed, and what the service signed and `verify`
   * refuses all the same (`ERR_SNAPSHOT_INVALID`, `ERR_INTEGRATION_MISMATCH`). @default console.error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined
  /**
   * Told of each delivery that was refused with a 4xx, by `code` and `status`. Strangers can cause all but the two that `onError` is told of
   * as well. @default nothing
   */
  readonly onRefusal?: ((refusal: Refused) => unknown) | undefined
}

/** Why a delivery was refused: an error of `verify`, or a `HandlerError`. */
export interface Refused extends Error {
  readonly code: string
  /** The HTTP status that was answered. */
  readonly status: number
}

/** 4.5 s leave half a second of the service's 5 for the way. */
export const handlerDefaults = { maxBytes: bodyDefaults.maxBytes, deadlineMs: 4500 } as const

/** The options, checked and complete. */
export interface HandlerSettings extends Required<Pick<HandlerOptions, 'receive'>> {
  readonly maxBytes: number
  readonly deadlineMs: number
  readonly onError: (error: unknown) => unknown
  readonly onRefusal: (refusal: Refused) => unknown
}

/**
 * Checks the options of an adapter.
 * @throws {TypeError} When `receive` or a listener is no function.
 * @throws {RangeError} When `maxBytes` or `deadlineMs` is out of range.
 */
export function handlerSettings(options: HandlerOptions): HandlerSettings {
  const { receive, deadlineMs = handlerDefaults.deadlineMs, onError = report, onRefusal = () => undefined } = options
  for (const [name, value] of Object.entries({ receive, onError, onRefusal }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  if (!Number.isSafeInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > 60_000)
    throw new RangeError(`deadlineMs is ${deadlineMs}; pass whole milliseconds, 1 to 60000.`)
  const { maxBytes } = checkedLimits(options)
  return { receive, maxBytes, deadlineMs, onError, onRefusal }
}

function report(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody hears of is worse than a line on stderr; onError replaces it.
  console.error(error)
}
