/** Options of every adapter that waits. @module */

/** How long a call waits. */
export interface BusyOptions {
  /**
   * How long a call waits for its turn, in milliseconds; 0 tries once. Keep it below 5 seconds, after which the service
   * no longer waits for your 503. The time covers other effects of the connection (on a pool, of the payment) and locks
   * of other connections. A COMMIT that finds a lock has as long again. The wait blocks nothing. The driver's own
   * time-out does block, and is added to each attempt: leave it at 0 where effects are asynchronous.
   * @default 3000
   */
  readonly busyTimeoutMs?: number | undefined
  /** Waits. When the signal aborts the wait is over: resolve early, so that no timer stays. @default setTimeout */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  /** The clock of the wait: milliseconds. @default performance.now */
  readonly monotonicNow?: (() => number) | undefined
}
