/** The options of a dispatcher, with their defaults and checks. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { assertWhole } from '../internal/assert-whole.js'

/** How a dispatcher works. */
export interface DispatcherOptions {
  /** Most POSTs in flight. Retries and replays take at most half of them. @default 256 */
  readonly concurrency?: number | undefined
  /** Most POSTs in flight to one endpoint. @default 32 */
  readonly perEndpoint?: number | undefined
  /** Most deliveries in one claim; never more than there are free slots. @default 256 */
  readonly batch?: number | undefined
  /** Length of a lease in milliseconds, at least {@link minLeaseMs}. @default 15000 */
  readonly leaseMs?: number | undefined
  /** Longest wait before the next look for due deliveries, in milliseconds. @default 250 */
  readonly idlePollMs?: number | undefined
  /**
   * Longest block of a failing endpoint in milliseconds, before jitter. It also limits the first one, of 5 s.
   * @default 60000
   */
  readonly blockCapMs?: number | undefined
}

/** The defaults of {@link DispatcherOptions}. */
export const dispatcherDefaults = {
  concurrency: 256,
  perEndpoint: 32,
  batch: 256,
  leaseMs: 15_000,
  idlePollMs: 250,
  blockCapMs: 60_000,
} as const

/** The shortest lease: a POST with its whole timeout, and 5 s to settle it. */
export const minLeaseMs = deliveryTimeoutMs + 5_000

/**
 * The longest lease of another dispatcher in milliseconds, unless this one's are longer. A delivery leased for longer
 * than that was leased by a clock that was ahead.
 */
export const longestLeaseMs = 600_000

/** Options with every default filled in. */
export type DispatcherLimits = { readonly [Name in keyof DispatcherOptions]-?: number }

/** @throws RangeError When an option is out of range. */
export function checkDispatcherOptions(options: DispatcherOptions = {}): DispatcherLimits {
  const {
    concurrency = dispatcherDefaults.concurrency,
    perEndpoint = dispatcherDefaults.perEndpoint,
    batch = dispatcherDefaults.batch,
    leaseMs = dispatcherDefaults.leaseMs,
    idlePollMs = dispatcherDefaults.idlePollMs,
    blockCapMs = dispatcherDefaults.blockCapMs,
  } = options
  assertWhole('concurrency', concurrency, 1)
  assertWhole('perEndpoint', perEndpoint, 1)
  assertWhole('batch', batch, 1)
  assertWhole('leaseMs', leaseMs, minLeaseMs)
  assertWhole('idlePollMs', idlePollMs, 1)
  assertWhole('blockCapMs', blockCapMs, 1)
  return { concurrency, perEndpoint, batch, leaseMs, idlePollMs, blockCapMs }
}
