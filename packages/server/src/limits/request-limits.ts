/**
 * How much one source and one caller may ask. Source: docs/decisions/rate-limits.md; docs/decisions/rate-limits.md.
 * @module
 */
import { createRate, type Rate } from './rate.js'
import { createSourceReader, type SourceReader } from './source.js'

/** Which limits there are; every one is off unless it is given. */
export interface RequestLimitsOptions {
  /** Requests per second of one source, whatever they ask. @default none */
  readonly requestsPerSource?: number | null | undefined
  /** Requests per second of one integration, and of one legacy API key, that are authenticated. @default none */
  readonly requestsPerCaller?: number | null | undefined
  /** Answers 401 per minute to one source, before it is not looked at any more. @default none */
  readonly failedSignInsPerSource?: number | null | undefined
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is believed. @default none */
  readonly trustedProxies?: readonly string[] | undefined
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * The limits of one process. Every method but `sourceOf` returns how long to wait, in milliseconds: 0 when the request
 * may go on.
 */
export interface RequestLimits {
  readonly sourceOf: SourceReader['sourceOf']
  /** Counts a request before anything else is done with it. */
  countRequest(source: string): number
  /** Counts a 401 that is ready to be sent; only with a wait of 0 may it be sent. */
  countUnauthorized(source: string): number
  /**
   * Counts nothing. How long a source with too many answers 401 waits: asked once more when credentials turned out
   * right.
   */
  unauthorizedWaitMs(source: string): number
  /** Counts an authenticated request. */
  countCall(caller: string): number
}

/**
 * Builds the limits, in memory: each process counts for itself.
 * @throws {RangeError} For a limit that is no whole number from 1. @throws {TypeError} For a range that cannot be read.
 */
export function createRequestLimits(options: RequestLimitsOptions = {}): RequestLimits {
  const { requestsPerSource, requestsPerCaller, failedSignInsPerSource, trustedProxies } = options
  const { now = () => performance.now() } = options
  const { sourceOf } = createSourceReader(trustedProxies)
  const requests = rateOf('requestsPerSource', requestsPerSource, 1_000, now)
  const calls = rateOf('requestsPerCaller', requestsPerCaller, 1_000, now)
  const failures = rateOf('failedSignInsPerSource', failedSignInsPerSource, 60_000, now)
  return {
    sourceOf,
    // A source that failed too often is not looked at, whatever it brings: otherwise it could go on guessing until
    // something opens.
    countRequest: (source) => failures?.waitMs(source) || (requests?.take(source) ?? 0),
    countUnauthorized: (source) => failures?.take(source) ?? 0,
    unauthorizedWaitMs: (source) => failures?.waitMs(source) ?? 0,
    countCall: (caller) => calls?.take(caller) ?? 0,
  }
}

function rateOf(name: string, count: number | null | undefined, periodMs: number, now: () => number): Rate | undefined {
  if (count === null || count === undefined) return undefined
  if (!Number.isSafeInteger(count) || count < 1)
    throw new RangeError(`${name} is ${count}; pass a whole number from 1, or leave it out for no limit.`)
  return createRate({ count, periodMs, now })
}
