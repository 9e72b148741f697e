/** Describes errors of any wire without secrets, makes ChainErrors; limits the time of requests. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { ExcessiveJsonError } from '@payment-integration/contract/internal-io'
import { ChainError } from '@payment-integration/core'
import type { Clock } from '@payment-integration/core/ports'

type FailureKind =
  | 'rate-limit'
  /** An immediate retry may succeed: after a gateway's error or a truncated answer. */
  | 'transient'
  /** A keep-alive connection was closed. */
  | 'stale'
  | 'too-large'
  /** The answer was made to exhaust its reader, as no honest node does. */
  | 'hostile'
  | 'other'

/** Why a request failed. The message is a phrase that may be shown: any text of the node in it is redacted. */
export class RequestError extends Error {
  readonly kind: FailureKind
  /** The raw `Retry-After` header of a rate limit. */
  readonly retryAfter: string | null
  constructor(message: string, kind: FailureKind = 'other', retryAfter: string | null = null) {
    super(message)
    this.kind = kind
    this.retryAfter = retryAfter
  }
}

export class DeadlineError extends RequestError {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}

/** A keep-alive connection was closed: it idled too long, or another node took over the address. */
export class StaleConnectionError extends RequestError {
  override readonly name = 'StaleConnectionError'
  constructor() {
    super('no connection (ECONNRESET)', 'stale')
  }
}

export class HttpStatusError extends RequestError {
  constructor(status: number, retryAfter: string | null = null) {
    super(`HTTP status ${status}`, status === 429 ? 'rate-limit' : status >= 500 ? 'transient' : 'other', retryAfter)
  }
}

export class ResponseTooLargeError extends RequestError {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`, 'too-large')
  }
}

/** Makes the error of valid JSON that does not answer the request. */
export function buildNotJsonRpcError(): RequestError {
  return new RequestError('the answer is not JSON-RPC')
}

/** Makes the error of a request that does not wait for a connection. */
export function buildNoConnectionError(): RequestError {
  return new RequestError('no connection')
}

/**
 * Runs `work` with a signal that aborts on time-out or with `caller`. After that it rejects even if `work` goes on.
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
    const result = raceAbort(work(signal), signal)
    return await Promise.race([result, expire().then(() => result)])
  } finally {
    done.abort()
    caller?.removeEventListener('abort', relay)
  }
}

/** Settles like `work`, or rejects with the signal's reason if that comes first. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
  })
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Runs an outside callback, whose exceptions must not stop the reading. */
export function callSafely(callback: () => void): void {
  try {
    callback()
  } catch {
    // Reading goes on.
  }
}

/** Moves the credentials of a valid URL into a Basic header. */
export function splitUrl(text: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(text)
  url.hash = ''
  const { username, password } = url
  if (username === '' && password === '') return { url, headers: {} }
  const pair = `${decodePercent(username)}:${decodePercent(password)}`
  url.username = ''
  url.password = ''
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}

/** Decodes percent-encoding; returns malformed text unchanged. */
function decodePercent(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Long labels in front of the domain: some providers put the key there. */
export function findSecretLabels(hostname: string): string[] {
  return hostname
    .split('.')
    .slice(0, -2)
    .filter((label) => label.length >= secretLabelLength)
}

/** Shorter labels, such as `rpc` or `mainnet`, cannot be a key. */
const secretLabelLength = 8

/** An error in a chain of causes. Errors of viem are recognized by name and fields, because viem is optional. */
type ErrorLink = Error & {
  readonly code?: unknown
  readonly details?: unknown
  readonly headers?: Pick<Headers, 'get'> | undefined
  readonly maxSize?: unknown
  readonly status?: number | undefined
}

export type Failures = ReturnType<typeof createFailures>

class RateLimitError extends ChainError {}

/** An answer exceeds its size limit; a foreign contract may be the cause. */
export class ResultTooLargeError extends ChainError {}

export function isUnavailable(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_UNAVAILABLE'
}

export function isUnproven(error: unknown): boolean {
  return error instanceof ChainError && error.code === 'ERR_CHAIN_PROOF_FAILED'
}

export function isRateLimit(error: unknown): boolean {
  return error instanceof RateLimitError
}

/**
 * Makes the errors of one chain, without a `cause`, because a transport's error contains the node's URL with its key.
 * @param node - The node's name in messages, for a chain with several nodes.
 */
export function createFailures(chainId: number, node?: string) {
  const prefix = `Chain ${chainId} cannot be read: ${node === undefined ? '' : `${node}: `}`
  return {
    chainId,
    /** The node is unreachable or its answer unusable; the call can be repeated. */
    unavailable: (what: string) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, `${prefix}${what}`),
    /** The answer exceeds its size limit. */
    tooLarge: (what: string) => new ResultTooLargeError('ERR_CHAIN_UNAVAILABLE', chainId, `${prefix}${what}`),
    /** The node's rate limit is reached; the request itself is valid. */
    rateLimit: (what: string) => new RateLimitError('ERR_CHAIN_UNAVAILABLE', chainId, `${prefix}${what}`),
    /** A block left the chain during the read, or is not there yet. */
    noBlock(what: string) {
      const message = `Chain ${chainId} changed during the read: ${what} Read the head again.`
      return new ChainError('ERR_CHAIN_RANGE_GONE', chainId, message)
    },
    /** The answer contradicts the block's header; another node may answer correctly. */
    unproven: (what: string) =>
      new ChainError('ERR_CHAIN_PROOF_FAILED', chainId, `Chain ${chainId} cannot be proven complete: ${what}`),
  }
}

interface RpcError {
  /** Null when the node sent no whole number. */
  readonly code: number | null
  readonly message: string
}

/** Finds out why a request over any wire failed. @param redact - Cleans text that the node wrote. */
export function toRequestError(error: unknown, redact: (text: string) => string): RequestError {
  const rpcError = findRpcError(error)
  if (rpcError !== null) return new RequestError(describeRpcError({ ...rpcError, message: redact(rpcError.message) }))
  for (const link of walkCauses(error)) {
    const { name, status, code } = link
    if (link instanceof RequestError) return link
    if (link instanceof ExcessiveJsonError) return new RequestError(link.message, 'hostile')
    if (link instanceof SyntaxError) return new RequestError('the answer is not JSON', 'transient')
    if (name === 'ResponseBodyTooLargeError') return new ResponseTooLargeError(Number(link.maxSize))
    if (name === 'HttpRequestError' && status !== undefined) {
      const retryAfter = link.headers?.get('retry-after') ?? null
      // Not transient: viem's transports have retries of their own.
      return new RequestError(`HTTP status ${status}`, status === 429 ? 'rate-limit' : 'other', retryAfter)
    }
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code))
      return new RequestError(`no connection (${code})`, code === 'ECONNRESET' ? 'transient' : 'other')
  }
  return new RequestError('the connection failed, or the answer is not JSON-RPC')
}

/** The JSON-RPC error that a viem transport threw; null for any other failure. */
export function findRpcError(error: unknown): RpcError | null {
  for (const { name, details, code } of walkCauses(error))
    if (name === 'RpcRequestError' && details !== undefined)
      return { code: typeof code === 'number' && Number.isSafeInteger(code) ? code : null, message: String(details) }
  return null
}

/** Describes a JSON-RPC error whose message is already redacted. */
export function describeRpcError(error: RpcError | undefined): string {
  if (error === undefined) return 'no answer'
  return error.code === null ? `JSON-RPC error: ${error.message}` : `JSON-RPC error ${error.code}: ${error.message}`
}

/** The most characters of a node's text that are searched, and that are shown. */
const maxReadCharacters = 4_096
const maxShownCharacters = 160
/** The bounded scheme keeps the search linear; the start of a longer scheme is not secret. */
const anyUrl = /[a-z0-9+.-]{0,31}:\/\/\S+/

/**
 * Makes a function that removes secrets from a node's text, because nodes repeat the key that they reject. It removes
 * every URL, and credentials, host names, path segments and query values of `url`. Control and bidirectional characters
 * become spaces. The text may be hostile (a token's revert reason, for example), so only its beginning is read.
 */
export function createRedactor(url: string | undefined): (text: string) => string {
  const secrets = url === undefined ? [] : findSecrets(url)
  const literals = secrets.map((secret) => secret.replace(/[^a-z0-9]/gi, '\\$&'))
  const secretPattern = new RegExp([anyUrl.source, ...literals].join('|'), 'gi')
  const longest = secrets[0]?.length ?? 0
  return (text) => {
    // Long enough to contain every secret that begins among the read characters.
    const window = copyText(text.slice(0, maxReadCharacters + longest))
    let clean = ''
    let at = 0
    for (const { index, 0: secret } of window.matchAll(secretPattern)) {
      if (index >= maxReadCharacters) break
      clean += `${window.slice(at, index)}${secret.includes('://') ? '[url]' : '[redacted]'}`
      at = index + secret.length
    }
    clean += window.slice(at, maxReadCharacters)
    return clean.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxShownCharacters)
  }
}

/** A copy, because a slice keeps the whole text in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Longest first, so that no remainder of a secret stays when another secret is part of it. */
function findSecrets(text: string): string[] {
  const url = parseUrl(text)
  if (url === null) return []
  const credentials = [url.username, url.password]
  const basic = Buffer.from(credentials.map(decodePercent).join(':')).toString('base64')
  const query = [...url.searchParams].map(([name, value]) => value || name)
  // A host name without a dot, such as `localhost`, is no secret.
  const host = url.hostname.includes('.') ? [url.hostname, ...findSecretLabels(url.hostname)] : []
  const parts = [...credentials, basic, ...host, ...url.pathname.split('/'), ...query]
  const all = parts.flatMap((part) => [part, decodePercent(part)]).filter((part) => part.length >= 4)
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

function* walkCauses(error: unknown): Generator<ErrorLink> {
  let link: unknown = error
  for (let depth = 0; link instanceof Error && depth < 10; depth++) {
    yield link
    link = link.cause
  }
}
