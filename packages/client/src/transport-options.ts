/** Options of every client and every call, their checks, and warnings. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { checkInteger } from './internal/check.js'

/** A field or value that this version does not know. The client returns the answer unchanged. */
export interface ClientWarning {
  /** `unknown_field`: a field outside the contract. `unknown_value`: an unknown text, such as a new payment state. */
  readonly kind: 'unknown_field' | 'unknown_value'
  /**
   * The path, such as `payments.*.state`; `*` stands for an index. A name with other characters than letters, digits,
   * `_` and `-` is quoted as in JSON.
   */
  readonly path: string
  /** The first 64 characters of the unknown text; null for a field. `[hidden]` replaces a secret. */
  readonly value: string | null
  /** The warning as a sentence for a log: always one line of printable ASCII. */
  readonly message: string
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which rejects with {@link AbortedError} `ERR_ABORTED`. @default none */
  readonly signal?: AbortSignal | undefined
}

/** Options of every client: address, fetch, timeouts, retries. */
export interface TransportOptions {
  /** Address of the service, with an optional path prefix: `https:`, or `http:` to a loopback host. */
  readonly baseUrl: string | URL
  /** Sends each request, called as `fetch(url, init)`; must honor `init.signal`. @default the global fetch */
  readonly fetch?: FetchFunction | undefined
  /** Time for one attempt, from the request to the last byte of the body, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined
  /** Time for a whole call, over all attempts and waits, in milliseconds. @default 30000 */
  readonly totalTimeoutMs?: number | undefined
  /** Most retries, 0 to 10, after 429, 502, 503, 504, a failed connection or a timed-out attempt. @default 2 */
  readonly maxRetries?: number | undefined
  /** Longest wait before the first retry, in milliseconds; doubles per retry. Each wait is random. @default 300 */
  readonly retryDelayMs?: number | undefined
  /** Longest wait after any doubling of `retryDelayMs`, in milliseconds. A longer `Retry-After` wins. @default 5000 */
  readonly maxRetryDelayMs?: number | undefined
  /** Longest accepted body, after decompression, in bytes. @default 8388608 (8 MiB) */
  readonly maxResponseBytes?: number | undefined
  /** Spreads retries: a number in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
  /**
   * Receives a warning for each unknown field or value, once each, at most 100. `console.warn` fits.
   * @default none: a library does not write to a log that it was not given
   */
  readonly onWarning?: ((warning: ClientWarning) => void) | undefined
  /**
   * For tests: throws `ERR_RESPONSE_INVALID` instead of a warning. In production, calls to a newer service would fail.
   * @default false
   */
  readonly strict?: boolean | undefined
}

/** The part of `fetch` that a client uses. The `fetch` of the npm package undici is one too. */
export type FetchFunction = (url: string, init: FetchInit) => Promise<FetchedResponse>

/** The request of a {@link FetchFunction}, in plain values: they belong to no realm and to no copy of `fetch`. */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  /** Absent for a GET. */
  readonly body?: string
  readonly signal: AbortSignal
  /** Redirects must not be followed: they would carry the credentials. */
  readonly redirect: 'manual'
}

/** The part of a `Response` that a client uses. */
export interface FetchedResponse extends Pick<Response, 'status' | 'type' | 'body'> {
  readonly headers: { get(name: string): string | null }
}

/** Every option present. */
export type Complete<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> }

/** {@link TransportOptions} with defaults, checked. */
export interface Transport extends Omit<Complete<TransportOptions>, 'baseUrl' | 'onWarning'> {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly onWarning: ((warning: ClientWarning) => void) | null
}

// A timer's delay has at most 31 bits; a longer delay fires at once.
const maxTimerMs = 2_147_483_647

/**
 * Checks the options and adds defaults. Every message names the option.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkTransport(options: TransportOptions): Transport {
  const {
    timeoutMs = 10_000,
    totalTimeoutMs = 30_000,
    maxRetries = 2,
    retryDelayMs = 300,
    maxRetryDelayMs = 5_000,
    maxResponseBytes = 8_388_608,
    // Reads the global at call time: a test tool or a tracer may replace it later.
    fetch = (url, init) => globalThis.fetch(url, init),
    random = () => Math.random(),
    clock = { now: () => Date.now() },
    onWarning = null,
    strict = false,
  } = options
  for (const [name, value] of Object.entries({ fetch, random, 'clock.now': clock?.now }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  if (onWarning !== null && typeof onWarning !== 'function')
    throw new TypeError(`onWarning is ${typeof onWarning}; pass a function.`)
  if (typeof strict !== 'boolean') throw new TypeError(`strict is of type ${typeof strict}; pass true or false.`)
  return {
    baseUrl: checkBaseUrl(options.baseUrl),
    timeoutMs: checkInteger('timeoutMs', timeoutMs, 1, maxTimerMs),
    totalTimeoutMs: checkInteger('totalTimeoutMs', totalTimeoutMs, 1, maxTimerMs),
    maxRetries: checkInteger('maxRetries', maxRetries, 0, 10),
    retryDelayMs: checkInteger('retryDelayMs', retryDelayMs, 0, maxTimerMs),
    maxRetryDelayMs: checkInteger('maxRetryDelayMs', maxRetryDelayMs, 0, maxTimerMs),
    maxResponseBytes: checkInteger('maxResponseBytes', maxResponseBytes, 1, Number.MAX_SAFE_INTEGER),
    fetch,
    random,
    clock,
    onWarning,
    strict,
  }
}

/** Path prefix of the API. Both clients add it. */
const apiPath = '/api/v1'

function checkBaseUrl(value: unknown): string {
  // Checks the shape, not the class: a URL may come from another realm.
  const text = typeof value === 'string' ? value : (value as Partial<URL> | null | undefined)?.href
  if (typeof text !== 'string')
    throw new TypeError(`baseUrl is of type ${typeof text}; pass a URL, as text or as an object.`)
  const url = parseUrl(text)
  if (url === null) throw new TypeError('baseUrl is not an absolute URL; pass one such as https://payments.example.com')
  if (url.username !== '' || url.password !== '')
    throw new TypeError('baseUrl holds credentials; pass them as options.')
  if (url.search !== '' || url.hash !== '')
    throw new TypeError('baseUrl holds a query or a fragment; pass an address without.')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw new TypeError(`baseUrl is ${url.protocol}//${url.host}; pass https:, or http: to a loopback host.`)
  const path = url.pathname.replace(/\/{1,64}$/, '')
  if (path.endsWith(apiPath)) throw new TypeError(`baseUrl: leave ${apiPath} out; the client adds it.`)
  return url.origin + path
}

/** The URL parser has already normalized IPv4 and IPv6 addresses. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  )
}
