/** What every adapter that waits takes. @module */

/** How long a call waits. */
export interface BusyOptions {
  /**
   * How long a call waits for its turn, in milliseconds: behind other effects of its connection, or on a pool of its payment, and for a
   * lock of another connection, both together; a COMMIT that finds a lock has as long again. 0 tries once. Shorter than the 5 seconds after which the service stops
   * listening, so that your 503 is heard. The wait blocks nothing, unlike the driver's own time-out, which comes on top for each try:
   * leave that at 0 where effects are asynchronous. @default 3000
   */
  readonly busyTimeoutMs?: number | undefined
  /** Waits. When the signal aborts the wait is over: resolve early, so that no timer stays. @default setTimeout */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  /** The clock of the wait: milliseconds. @default performance.now */
  readonly monotonicNow?: (() => number) | undefined
}
