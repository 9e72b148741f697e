/** What a client is made from, checked before it is made. @module */

/** Options of `createClient`. */
export interface ClientOptions {
  /** Address of the service, with an optional path prefix: `https:`, or `http:` to a loopback host. */
  readonly baseUrl: string | URL
  /** The integration's address, 0x and 40 hex digits in any case: the Basic username. */
  readonly integrationAddress: string
  /** The integration's API secret: the Basic password. Not the webhook signing secret. */
  readonly apiSecret: string
  /** Makes each request; gets a `Request`, must honour its signal. @default the global fetch */
  readonly fetch?: FetchFunction | undefined
  /** Time for one try, from the request to the last byte of the body, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined
  /** Time for a whole call, over all tries and the waits between them, in milliseconds. @default 30000 */
  readonly totalTimeoutMs?: number | undefined
  /** Further tries after 429, 502, 503, 504, a failed connection or a timed-out try. 0 turns them off. @default 2 */
  readonly retries?: number | undefined
  /** Longest wait before the first retry, in milliseconds; doubles with each. The wait is random between 0 and it. @default 300 */
  readonly retryDelayMs?: number | undefined
  /** Ceiling of that doubling, in milliseconds. A `Retry-After` may ask for more. @default 5000 */
  readonly maxRetryDelayMs?: number | undefined
  /** Longest accepted body, after decompression, in bytes. @default 8388608 (8 MiB) */
  readonly maxResponseBytes?: number | undefined
  /** Spreads retries: a number in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined
  /** The clock: milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The part of `fetch` that this client uses. */
export type FetchFunction = (request: Request) => Promise<Response>

/** Defaults of {@link ClientOptions}. */
export const clientDefaults = {
  timeoutMs: 10_000,
  totalTimeoutMs: 30_000,
  retries: 2,
  retryDelayMs: 300,
  maxRetryDelayMs: 5_000,
  maxResponseBytes: 8_388_608,
} as const

/** {@link ClientOptions} with every gap filled and every value checked. */
export interface CheckedOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** Lowercased. */
  readonly integrationAddress: string
  readonly apiSecret: string
  readonly fetch: FetchFunction
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly retries: number
  readonly retryDelayMs: number
  readonly maxRetryDelayMs: number
  readonly maxResponseBytes: number
  readonly random: () => number
  readonly now: () => number
}

// Timers of every runtime hold 31 bits; a longer one fires at once.
const longestTimerMs = 2_147_483_647

/**
 * Checks and completes the options. The messages never repeat `apiSecret`, nor a text that could be one in the wrong place.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkOptions(options: ClientOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('createClient expects an object with baseUrl, integrationAddress and apiSecret.')
  const {
    timeoutMs = clientDefaults.timeoutMs,
    totalTimeoutMs = clientDefaults.totalTimeoutMs,
    retries = clientDefaults.retries,
    retryDelayMs = clientDefaults.retryDelayMs,
    maxRetryDelayMs = clientDefaults.maxRetryDelayMs,
    maxResponseBytes = clientDefaults.maxResponseBytes,
    // Read at call time: a test tool or a tracer may replace the global after the client was made.
    fetch = (request) => globalThis.fetch(request),
    random = () => Math.random(),
    now = () => Date.now(),
  } = options
  for (const [name, value] of Object.entries({ fetch, random, now }))
    if (typeof value !== 'function') throw new TypeError(`${name} is ${typeof value}; pass a function.`)
  return {
    baseUrl: checkBaseUrl(options.baseUrl),
    integrationAddress: checkAddress('integrationAddress', options.integrationAddress),
    apiSecret: checkSecret(options.apiSecret),
    timeoutMs: checkInteger('timeoutMs', timeoutMs, 1, longestTimerMs),
    totalTimeoutMs: checkInteger('totalTimeoutMs', totalTimeoutMs, 1, longestTimerMs),
    retries: checkInteger('retries', retries, 0, 10),
    retryDelayMs: checkInteger('retryDelayMs', retryDelayMs, 0, longestTimerMs),
    maxRetryDelayMs: checkInteger('maxRetryDelayMs', maxRetryDelayMs, 0, longestTimerMs),
    maxResponseBytes: checkInteger('maxResponseBytes', maxResponseBytes, 1, Number.MAX_SAFE_INTEGER),
    fetch,
    random,
    now,
  }
}

/** A whole number in a range, or an error that names it. */
export function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number') throw new TypeError(`${name} is of type ${typeof value}; pass a whole number.`)
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new RangeError(`${name} is ${value}; pass a whole number from ${min} to ${max}.`)
  return value
}

/** A 20-byte hex address, lowercased. The message does not repeat the text: it could be a secret in the wrong place. */
export function checkAddress(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value))
    throw new TypeError(`${name} is not an address; pass 0x and 40 hex digits.`)
  return value.toLowerCase()
}

function checkSecret(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw new TypeError('apiSecret is missing or blank.')
  if (value !== value.trim())
    throw new TypeError('apiSecret begins or ends with white space, as a line break from a file would add; trim it.')
  if (/\p{Cc}/u.test(value))
    throw new TypeError('apiSecret holds a control character, which Basic authentication forbids.')
  return value
}

function checkBaseUrl(value: unknown): string {
  if (typeof value !== 'string' && !(value instanceof URL)) throw new TypeError('baseUrl is missing; pass a URL.')
  if (!URL.canParse(String(value)))
    throw new TypeError('baseUrl is not an absolute URL; pass one such as https://payments.example.com')
  const url = new URL(String(value))
  if (url.username !== '' || url.password !== '')
    throw new TypeError('baseUrl holds credentials; pass integrationAddress and apiSecret instead.')
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl holds a query or a fragment; leave both out.')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw new TypeError(
      `baseUrl is ${url.protocol}//${url.host}; pass https:, or http: to a loopback host. The secret travels with every request.`,
    )
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** The URL parser has already brought an IPv4 address to four decimal parts and IPv6 to its short form. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  )
}
