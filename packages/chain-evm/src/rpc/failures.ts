/**
 * Turns errors of any transport into a ChainError that names the chain and leaks nothing; limits the time of requests.
 * @module
 */

import { parseUrl } from '@payment-integration/contract/internal'
import { ExcessiveJsonError } from '@payment-integration/contract/internal-io'
import { ChainError } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'

/** The request took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/**
 * Runs `work` for at most `timeoutMs` milliseconds of `clock`. Its signal aborts on time-out and when `caller` aborts.
 * The call rejects at that moment even when `work` does not listen.
 * @throws {@link DeadlineError} On time-out; the caller's reason when the caller aborted.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted()
  const controller = new AbortController()
  const done = new AbortController()
  const { signal } = controller
  const relay = () => controller.abort(caller?.reason)
  caller?.addEventListener('abort', relay, { once: true })
  const expire = async () => {
    await clock.sleep(timeoutMs, done.signal)
    if (!done.signal.aborted) controller.abort(new DeadlineError(timeoutMs))
  }
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return await Promise.race([work(signal), aborted, expire().then(() => aborted)])
  } finally {
    done.abort()
    caller?.removeEventListener('abort', relay)
  }
}

/** The parts of a URL. */
interface UrlParts {
  /** Without credentials and fragment. */
  readonly url: URL
  /** The credentials as a Basic header; empty without any. */
  readonly headers: Readonly<Record<string, string>>
}

/** Takes the credentials out of a URL that was checked before. */
export function splitUrl(text: string): UrlParts {
  const url = new URL(text)
  url.hash = ''
  const { username, password } = url
  if (username === '' && password === '') return { url, headers: {} }
  const pair = `${decodePercent(username)}:${decodePercent(password)}`
  url.username = ''
  url.password = ''
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}

/** Decodes percent signs; returns the text itself when they are malformed. */
function decodePercent(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Labels that a provider may have put a key into: long ones in front of its domain. */
export function findSecretLabels(hostname: string): string[] {
  return hostname
    .split('.')
    .slice(0, -2)
    .filter((label) => label.length >= secretLabelLength)
}

/** Shorter labels, such as `rpc` or `mainnet`, are too short for a key. */
const secretLabelLength = 8

/** The node answered with a JSON-RPC error. */
interface TransportRpcError extends Error {
  readonly code: unknown
  readonly details: unknown
}

/** The node rejected the request as a whole, or could not be reached. */
interface TransportHttpError extends Error {
  readonly status?: number | undefined
  readonly headers?: Pick<Headers, 'get'> | undefined
}

/** The answer was longer than was allowed. */
interface TransportSizeError extends Error {
  readonly maxSize: unknown
}

/** Whether viem reports a JSON-RPC error. */
function isTransportRpcError(error: Error): error is TransportRpcError {
  return error.name === 'RpcRequestError' && 'details' in error
}

/** Whether viem reports a status of HTTP, or none at all. */
function isTransportHttpError(error: Error): error is TransportHttpError {
  return error.name === 'HttpRequestError'
}

/** Whether viem stopped reading. */
function isTransportSizeError(error: Error): error is TransportSizeError {
  return error.name === 'ResponseBodyTooLargeError' && 'maxSize' in error
}

/** Makes the errors of one chain. */
export interface Failures {
  /** The node cannot be reached or answers nonsense; the same call can be repeated. */
  unavailable(what: string): ChainError
  /** A block of the range left the chain while it was read, or is not there yet. */
  gone(what: string): ChainError
  /** The node's answer for a block contradicts the header; another node may do better. */
  unproven(what: string): ChainError
  /** The answer is larger than it may be. Also `ERR_CHAIN_UNAVAILABLE`. */
  tooLarge(what: string): TooLargeAnswerError
  /** The node wants fewer requests. Also `ERR_CHAIN_UNAVAILABLE`. */
  limited(what: string): RateLimitError
}

/** The node answers, but not as often as it is asked. Nothing is wrong with the request or its size. */
class RateLimitError extends ChainError {
  constructor(chainId: number, message: string) {
    super('ERR_CHAIN_UNAVAILABLE', chainId, message)
  }
}

/** The node answers more than it may. A foreign contract may be the cause. */
export class TooLargeAnswerError extends ChainError {
  constructor(chainId: number, message: string) {
    super('ERR_CHAIN_UNAVAILABLE', chainId, message)
  }
}

/** Whether a read failed because the node did not answer, or answered nonsense. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_UNAVAILABLE'
}

/** Whether an answer did not lead to what a header commits to. */
export function isUnproven(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_PROOF_FAILED'
}

/** Whether an error says nothing but that the node wants fewer requests. */
export function isRateLimit(error: unknown): boolean {
  return error instanceof RateLimitError
}

/**
 * The errors of chain `chainId`. They carry no `cause`: a transport's error holds the node's URL, which holds keys.
 * @param node - Name of the node that they are about, where there are several.
 */
export function createFailures(chainId: number, node?: string): Failures {
  const prefix = `Chain ${chainId} cannot be read: ${node === undefined ? '' : `${node}: `}`
  return {
    unavailable: (what) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, `${prefix}${what}`),
    tooLarge: (what) => new TooLargeAnswerError(chainId, `${prefix}${what}`),
    limited: (what) => new RateLimitError(chainId, `${prefix}${what}`),
    gone: (what) =>
      new ChainError(
        'ERR_CHAIN_RANGE_GONE',
        chainId,
        `Chain ${chainId} changed under the read: ${what} Read the head again.`,
      ),
    unproven: (what) =>
      new ChainError('ERR_CHAIN_PROOF_FAILED', chainId, `Chain ${chainId} is not proven whole: ${what}`),
  }
}

/** A JSON-RPC error: its code when that is a whole number, and its message. */
interface RpcError {
  readonly code: number | null
  readonly message: string
}

/** A kept connection was closed: it was idle for too long, or another node has taken over the address. */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError'
  readonly code = 'ECONNRESET'
}

/** The node rejected a request as a whole. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly status: number
  /** The `Retry-After` header as it came, or null. */
  readonly retryAfter: string | null
  constructor(status: number, retryAfter: string | null = null) {
    super(`HTTP status ${status}`)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** The answer is larger than allowed. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`)
  }
}

/** The answer is JSON, but no answer to the request. */
export class NotJsonRpcError extends Error {
  override readonly name = 'NotJsonRpcError'
  constructor() {
    super('the answer is not JSON-RPC')
  }
}

/** There is no connection, and a new one is not tried yet. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError'
  constructor() {
    super('no connection')
  }
}

/** Failures whose message is ours, and clean. */
const shownErrors = [
  HttpStatusError,
  TooLargeError,
  ExcessiveJsonError,
  NotJsonRpcError,
  NoConnectionError,
  DeadlineError,
] as const

/** Says in one short phrase why a request failed. `redact` cleans text that the node wrote. */
export function describeFailure(error: unknown, redact: (text: string) => string): string {
  for (const link of walkCauses(error)) {
    if (isTransportRpcError(link))
      return describeRpcError({ code: getErrorCode(link), message: redact(String(link.details)) })
    if (isTransportSizeError(link)) return `the answer is larger than ${link.maxSize} bytes`
    if (shownErrors.some((known) => link instanceof known)) return link.message
    if (isTransportHttpError(link) && link.status !== undefined) return `HTTP status ${link.status}`
    if (link instanceof SyntaxError) return 'the answer is not JSON'
    const code: unknown = 'code' in link ? link.code : undefined
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return `no connection (${code})`
  }
  return 'the connection failed, or the answer is not JSON-RPC'
}

/** The JSON-RPC error in what a transport threw, or null when the node did not answer with one. */
export function findRpcError(error: unknown): RpcError | null {
  for (const link of walkCauses(error))
    if (isTransportRpcError(link)) return { code: getErrorCode(link), message: String(link.details) }
  return null
}

/** The retry time of a rejection for too many requests; null when the failure is another one. */
export function findRateLimit(error: unknown): { readonly retryAfter: string | null } | null {
  for (const link of walkCauses(error)) {
    if (link instanceof HttpStatusError) return link.status === 429 ? link : null
    if (isTransportHttpError(link) && link.status === 429)
      return { retryAfter: link.headers?.get('retry-after') ?? null }
  }
  return null
}

/** Whether a gateway failed at once, or the answer was cut: the same request may well succeed. */
export function isTransient(error: unknown): boolean {
  for (const link of walkCauses(error)) {
    if (link instanceof StaleConnectionError) return false
    if (link instanceof HttpStatusError) return link.status >= 500
    if (link instanceof SyntaxError) return true
    if ('code' in link && link.code === 'ECONNRESET') return true
  }
  return false
}

/** Whether the answer to a request was larger than it may be. */
export function isTooLarge(error: unknown): boolean {
  for (const link of walkCauses(error)) if (link instanceof TooLargeError || isTransportSizeError(link)) return true
  return false
}

/** Whether an answer was made to exhaust its reader: no honest node sends such. */
export function isExcessive(error: unknown): boolean {
  for (const link of walkCauses(error)) if (link instanceof ExcessiveJsonError) return true
  return false
}

/** A JSON-RPC error as a phrase; its message must be redacted already. */
export function describeRpcError(error: RpcError | undefined): string {
  if (error === undefined) return 'no answer'
  return error.code === null ? `JSON-RPC error: ${error.message}` : `JSON-RPC error ${error.code}: ${error.message}`
}

/** Null for a code that is no number: its text may hold our key. */
function getErrorCode({ code }: { readonly code: unknown }): number | null {
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null
}

/** Characters that are read of a node's text, and characters that are shown. */
const readCharacters = 4_096
const shownCharacters = 160
/** A URL. The bound keeps the search linear; what stands before it in a longer scheme is no secret. */
const anyUrl = /[a-z0-9+.-]{0,31}:\/\/\S+/

/**
 * Makes a function that cleans text from the node. It removes URLs, and in any case each part of our own URL that may
 * be a key. These are credentials, also as their header, host names, path segments and query values. Nodes like to
 * repeat the key that they reject. Control and bidirectional characters become spaces. Anybody may write such a text,
 * at any length, as a token's revert reason, so only its beginning is read and shown.
 */
export function createRedactor(url: string | undefined): (text: string) => string {
  const secrets = url === undefined ? [] : findSecrets(url)
  const literals = secrets.map((secret) => secret.replace(/[^a-z0-9]/gi, '\\$&'))
  const hidden = new RegExp([anyUrl.source, ...literals].join('|'), 'gi')
  const longest = secrets[0]?.length ?? 0
  return (text) => {
    // A secret that begins in what is read is there as a whole.
    const window = copyText(text.slice(0, readCharacters + longest))
    let clean = ''
    let at = 0
    for (const { index, 0: found } of window.matchAll(hidden)) {
      if (index >= readCharacters) break
      clean += `${window.slice(at, index)}${found.includes('://') ? '[url]' : '[redacted]'}`
      at = index + found.length
    }
    clean += window.slice(at, readCharacters)
    return clean.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, shownCharacters)
  }
}

/** A part of a text keeps all of it in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Longest first, so that a part of another one leaves no rest. */
function findSecrets(text: string): string[] {
  const url = parseUrl(text)
  if (url === null) return []
  const credentials = [url.username, url.password]
  const basic = Buffer.from(credentials.map(decodePercent).join(':')).toString('base64')
  const query = [...url.searchParams].map(([name, value]) => value || name)
  const parts = [...credentials, basic, ...findHostSecrets(url.hostname), ...url.pathname.split('/'), ...query]
  const all = parts.flatMap((part) => [part, decodePercent(part)]).filter((part) => part.length >= 4)
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** Some providers put a key into the host name, in front of their domain. */
function findHostSecrets(hostname: string): string[] {
  return hostname.includes('.') ? [hostname, ...findSecretLabels(hostname)] : []
}

function* walkCauses(error: unknown): Generator<Error> {
  let link = error
  for (let depth = 0; link instanceof Error && depth < 10; depth++) {
    yield link
    link = link.cause
  }
}
