/** Limits requests per source and per caller, behind trusted proxies. Source: docs/decisions/rate-limits.md. @module */
import { isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '@payment-integration/core/ports'
import ipaddr from 'ipaddr.js'
import { createRangeCheck } from '../internal/address-ranges.js'

interface RateOptions {
  /** Maximum of events in one period: all at once after a pause, evenly from then on. */
  readonly count: number
  readonly periodMs: number
  /** Monotonic, in milliseconds. */
  readonly clock: Pick<Clock, 'now'>
  /** Maximum of keys in memory. @default 65536 */
  readonly maxKeys?: number | undefined
}

/** Larger than any rounding error of summed fractions. */
const roundingMs = 0.001

/**
 * Builds a rate limit that has counted nothing yet. The generic cell rate algorithm stores one number per key: the time
 * when the full allowance of the key is back.
 * The memory has two halves. When the newer half is full, or a period old, it becomes the older half, and the former
 * older half is dropped. A key that was unused for a period has its full allowance, so dropping it changes nothing.
 * When more than half of `maxKeys` arrive within a period, the keys unused for longest get a full allowance early. So a
 * flood of keys neither fills the memory nor locks anybody out.
 */
export function createRate({ count, periodMs, clock, maxKeys = 65_536 }: RateOptions) {
  const spacingMs = periodMs / count
  let newer = new Map<string, number>()
  let older = newer
  let newerSince = clock.now()

  const getFullAt = (key: string) => newer.get(key) ?? older.get(key) ?? Number.NEGATIVE_INFINITY
  function computeWaitMs(at: number, key: string): number {
    const waitMs = getFullAt(key) + spacingMs - periodMs - at
    return waitMs > roundingMs ? waitMs : 0
  }

  return {
    /** The wait until a key may be counted again, in milliseconds; 0: none. Counts nothing. */
    waitMs: (key: string) => computeWaitMs(clock.now(), key),
    /** Counts once, unless the key must wait. Returns the wait in milliseconds; 0: the key was counted. */
    take(key: string): number {
      const at = clock.now()
      const waitMs = computeWaitMs(at, key)
      if (waitMs > 0) return waitMs
      if (at - newerSince >= periodMs || newer.size >= maxKeys / 2) {
        older = newer
        newer = new Map()
        newerSince = at
      }
      newer.set(key, Math.max(getFullAt(key), at) + spacingMs)
      return 0
    },
  }
}

export type SourceReader = ReturnType<typeof createSourceReader>

/** The source of all requests without a known address. */
const unknownSource = 'unknown'

/**
 * Builds a reader of sources. A source is an IPv4 address, or the first 64 bits of an IPv6 address: one network owns
 * all addresses with the same 64 bits.
 * @param trustedProxies - Addresses and CIDR ranges.
 * @throws {TypeError} For a range that cannot be read.
 */
export function createSourceReader(trustedProxies: readonly string[] = []) {
  const isTrusted = createRangeCheck(trustedProxies)

  function findClientAddress(peer: string, forwardedFor: string | null): string {
    let address = peer
    for (let end = forwardedFor?.length ?? 0; end > 0 && isTrusted(address); ) {
      const comma = forwardedFor?.lastIndexOf(',', end - 1) ?? -1
      const hop = parseHop(forwardedFor?.slice(comma + 1, end) ?? '')
      if (hop === null) break
      address = hop
      end = comma
    }
    return address
  }

  return {
    /**
     * The source of a request. `X-Forwarded-For` is read from its end, as long as the address so far is a trusted
     * proxy. So entries written by others are ignored.
     * @param peer - The peer address of the connection.
     * @param forwardedFor - All values of the header, joined by commas; null without it.
     */
    findSource(peer: string | undefined, forwardedFor: string | null): string {
      const address = parseAddress(peer)
      return address === null ? unknownSource : toSource(findClientAddress(address, forwardedFor))
    },
    /** The source of a connection; null for a trusted proxy, which carries requests of many sources. */
    findConnectionSource(peer: string | undefined): string | null {
      const address = parseAddress(peer)
      if (address === null) return unknownSource
      return isTrusted(address) ? null : toSource(address)
    },
  }
}

/** Parses a header entry: an address that some proxies write with a port, and IPv6 in brackets. */
function parseHop(entry: string): string | null {
  const text = entry.trim()
  if (text.length > 64) return null
  const [, v6, v4] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i.exec(text) ?? []
  return parseAddress(v6 ?? v4 ?? text)
}

/** The canonical form of an address. An IPv4-mapped IPv6 address, as dual-stack sockets report it, becomes IPv4. */
function parseAddress(text: string | undefined): string | null {
  if (text === undefined) return null
  if (isIPv4(text)) return text
  return isIPv6(text) ? ipaddr.process(text).toString() : null
}

function toSource(address: string): string {
  if (isIPv4(address)) return address
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${network.map((part) => part.toString(16)).join(':')}::/64`
}

/** The limits; each is off unless it is set. */
export interface RequestLimitsOptions {
  /** Requests per second of one source, on any path. @default none */
  readonly requestsPerSource?: number | null | undefined
  /** Authenticated requests per second of one integration, and of one legacy API key. @default none */
  readonly requestsPerCaller?: number | null | undefined
  /** 401 answers per minute to one source. Beyond that, all requests of the source are 429. @default none */
  readonly failedSignInsPerSource?: number | null | undefined
  /** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted. @default none */
  readonly trustedProxies?: readonly string[] | undefined
  /** Monotonic, in milliseconds. @default performance.now */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** The limits of one process. Methods but `findSource` return a wait in milliseconds; 0: the request may go on. */
export type RequestLimits = ReturnType<typeof createRequestLimits>

/**
 * Creates the limits in memory; each process counts separately.
 * @throws {RangeError} For a limit that is no whole number from 1. @throws {TypeError} For a range that cannot be read.
 * @example
 * import { createRequestLimits } from '@payment-integration/server'
 * const limits = createRequestLimits({ requestsPerSource: 100, requestsPerCaller: 50 })
 */
export function createRequestLimits(options: RequestLimitsOptions = {}) {
  const { requestsPerSource, requestsPerCaller, failedSignInsPerSource, trustedProxies } = options
  const { clock = { now: () => performance.now() } } = options
  const { findSource } = createSourceReader(trustedProxies)
  const requests = createOptionalRate('requestsPerSource', requestsPerSource, 1_000, clock)
  const calls = createOptionalRate('requestsPerCaller', requestsPerCaller, 1_000, clock)
  const failures = createOptionalRate('failedSignInsPerSource', failedSignInsPerSource, 60_000, clock)
  return {
    findSource,
    /**
     * Counts a request before anything else is done with it. A source that failed too often is rejected even with valid
     * credentials. Otherwise it could go on guessing until one works.
     */
    countRequest: (source: string) => failures?.waitMs(source) || (requests?.take(source) ?? 0),
    /** Counts a 401 that is ready to be sent; only with a wait of 0 may it be sent. */
    countUnauthorized: (source: string) => failures?.take(source) ?? 0,
    /** The wait of a source with too many 401 answers, without counting. Call it again after valid credentials. */
    unauthorizedWaitMs: (source: string) => failures?.waitMs(source) ?? 0,
    /** Counts an authenticated request. */
    countCall: (caller: string) => calls?.take(caller) ?? 0,
  }
}

function createOptionalRate(
  name: string,
  count: number | null | undefined,
  periodMs: number,
  clock: Pick<Clock, 'now'>,
) {
  if (count === null || count === undefined) return undefined
  if (!Number.isSafeInteger(count) || count < 1)
    throw new RangeError(`${name} is ${count}; pass a whole number from 1, or leave it out for no limit.`)
  return createRate({ count, periodMs, clock })
}
