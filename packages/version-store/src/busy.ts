/** Waits for another effect, or for a lock of another connection, without blocking the process. @module */
import { StoreBusyError } from './errors.js'

/** How long a call waits. */
export interface BusyOptions {
  /**
   * How long a call waits for its turn, in milliseconds; 0 tries once. Keep it below 5 seconds, after which the service
   * no longer waits for your 503. The time covers other effects of the connection (on a pool, of the payment) and locks
   * of other connections. A COMMIT that meets a lock may wait this time again. The wait does not block the process. The
   * driver's own time-out does, and is added to each attempt: leave it at 0 if effects are asynchronous.
   * @default 3000
   */
  readonly busyTimeoutMs?: number | undefined
  /**
   * A monotonic clock, in milliseconds. `sleep` must resolve early when the signal aborts, so that no timer stays.
   * @default performance.now and setTimeout
   */
  readonly clock?: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> } | undefined
}

/** Two seconds less than the service waits. Source: docs/interface.md 6 (the service waits 5 seconds). */
const defaultTimeoutMs = 3000

/** Time between two attempts of a call that waits, in milliseconds. */
export const retryEveryMs = 10

/** Checks the options and adds defaults. @throws {RangeError} When the time-out is not 0 or more milliseconds. */
export function checkBusyOptions(options: BusyOptions) {
  const { busyTimeoutMs = defaultTimeoutMs, clock = { now: () => performance.now(), sleep: abortableSleep } } = options
  // A timer's delay has at most 31 bits; a longer delay fires at once.
  if (!Number.isFinite(busyTimeoutMs) || busyTimeoutMs < 0 || busyTimeoutMs > 2_147_483_647)
    throw new RangeError(`busyTimeoutMs is ${busyTimeoutMs}; pass milliseconds, 0 to 2147483647.`)
  return { busyTimeoutMs, clock }
}

export type Wait = ReturnType<typeof startWait>

export function startWait({ busyTimeoutMs, clock }: ReturnType<typeof checkBusyOptions>) {
  const deadline = clock.now() + busyTimeoutMs
  return {
    /** For the queue: resolves to {@link StoreBusyError} after `busyTimeoutMs`. */
    async waitForTimeout(turn: AbortSignal): Promise<StoreBusyError> {
      await clock.sleep(busyTimeoutMs, turn)
      return new StoreBusyError(busyTimeoutMs, 'effect')
    },
    /** Milliseconds until the deadline; 0 after it. */
    leftMs: () => Math.max(0, deadline - clock.now()),
    /**
     * Repeats the work while it throws because the database is locked. Other errors, and rejections, pass through.
     * @throws {@link StoreBusyError} `ERR_VERSION_STORE_BUSY` when the time is over.
     */
    async whileLocked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
      for (;;) {
        try {
          // No await: a rejection comes from a begun transaction, whose effect must not run again.
          return work()
        } catch (error) {
          if (!isBusy(error)) throw error
          if (clock.now() >= deadline) throw new StoreBusyError(busyTimeoutMs, 'lock', error)
        }
        await clock.sleep(retryEveryMs)
      }
    },
  }
}

function abortableSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Whether the database is locked. Drivers report this by SQLite's error number or by its name. */
function isBusy(error: unknown): boolean {
  // No `instanceof`: the error of a driver may come from another realm.
  const { code, errcode, message } = Object(error) as { code?: unknown; errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') return (errcode & 0xff) === sqliteBusy
  if (typeof code === 'string' && /^SQLITE_BUSY/.test(code)) return true
  return /database is locked/.test(String(message))
}

/** SQLITE_BUSY; its extended codes share the low byte. */
const sqliteBusy = 5
