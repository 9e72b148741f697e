/** Limits requests per source and per caller. Source: docs/decisions/rate-limits.md. @module */
import { createRate, type Rate } from './rate.js'
import { createSourceReader, type SourceReader } from './source.js'

/** The limits; each is off unless it is set. */
export interface RequestLimitsOptions {
  /** Requests per second of one source, on any path. @default none */
  readonly requestsPerSource?: number | null | undefined
  /** Authenticated requests per second of one integration, and of one legacy API key. @default none */
  readonly requestsPerCaller?: number | null | undefined
  /** 401 answers per minute to one source; beyond, all its requests are 429. @default none */
  readonly failedSignInsPerSource?: number | null | undefined
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted. @default none */
  readonly trustedProxies?: readonly string[] | undefined
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
}

/**
 * The limits of one process. Every method but `sourceOf` returns the wait in milliseconds: 0 lets the request go on.
 */
export interface RequestLimits {
  readonly sourceOf: SourceReader['sourceOf']
  /** Counts a request before anything else is done with it. */
  countRequest(source: string): number
  /** Counts a 401 that is ready to be sent; only with a wait of 0 may it be sent. */
  countUnauthorized(source: string): number
  /** The wait of a source with too many 401 answers, without counting. It is checked again after valid credentials. */
  unauthorizedWaitMs(source: string): number
  /** Counts an authenticated request. */
  countCall(caller: string): number
}

/**
 * Builds the limits in memory; each process counts separately.
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
    // A source that failed too often is rejected even with valid credentials. Otherwise it could go on guessing until
    // one works.
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
