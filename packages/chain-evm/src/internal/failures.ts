/** Turns whatever a transport throws into a ChainError that names the chain and leaks nothing. @module */
import { ChainError } from '@payment-integration/core'
import { HttpRequestError, ResponseBodyTooLargeError, RpcRequestError } from 'viem'

/** Makes the errors of one chain. */
export interface Failures {
  /** The node cannot be reached or answers nonsense; the same call can be repeated. */
  unavailable(what: string): ChainError
  /** A block of the range left the chain while it was read, or is not there yet. */
  gone(what: string): ChainError
}

/** The errors of chain `chainId`. They carry no `cause`: a transport's error holds the node's URL, which holds keys. */
export function chainFailures(chainId: number): Failures {
  return {
    unavailable: (what) => new ChainError('ERR_CHAIN_UNAVAILABLE', chainId, `Chain ${chainId} cannot be read: ${what}`),
    gone: (what) =>
      new ChainError(
        'ERR_CHAIN_RANGE_GONE',
        chainId,
        `Chain ${chainId} changed under the read: ${what} Read the head again.`,
      ),
  }
}

/** A JSON-RPC error: its code when that is a whole number, and its message. */
export interface RpcError {
  readonly code: number | null
  readonly message: string
}

/** The node refused a request as a whole. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly status: number
  constructor(status: number) {
    super(`HTTP status ${status}`)
    this.status = status
  }
}

/** Says in one short phrase why a request failed. `redact` cleans text that the node wrote. */
export function describeFailure(error: unknown, redact: (text: string) => string): string {
  for (const link of chainOf(error)) {
    if (link instanceof RpcRequestError)
      return describeRpcError({ code: codeOf(link), message: redact(String(link.details)) })
    if (link instanceof ResponseBodyTooLargeError) return `the answer is larger than ${link.maxSize} bytes`
    if (link instanceof HttpStatusError) return link.message
    if (link instanceof HttpRequestError && link.status !== undefined) return `HTTP status ${link.status}`
    if (link instanceof SyntaxError) return 'the answer is not JSON'
    const code: unknown = 'code' in link ? link.code : undefined
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return `no connection (${code})`
  }
  return 'the connection failed, or the answer is not JSON-RPC'
}

/** The JSON-RPC error in what a transport threw, or null when the node did not answer with one. */
export function rpcErrorOf(error: unknown): RpcError | null {
  for (const link of chainOf(error))
    if (link instanceof RpcRequestError) return { code: codeOf(link), message: String(link.details) }
  return null
}

/** A JSON-RPC error as a phrase; its message must be redacted already. */
export function describeRpcError(error: RpcError | undefined): string {
  if (error === undefined) return 'no answer'
  return error.code === null ? `JSON-RPC error: ${error.message}` : `JSON-RPC error ${error.code}: ${error.message}`
}

/** What a node writes there is not always a number, and text may hold our key. */
function codeOf({ code }: { readonly code: unknown }): number | null {
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null
}

/**
 * Makes a cleaner for text from the node: URLs go, and so does every part of our own URL that may be a key (credentials,
 * also as their header, host names, path segments, query values), in any case, because nodes like to repeat the key they
 * refuse. Characters that steer a terminal or turn text around become spaces.
 */
export function redactor(url: string | undefined): (text: string) => string {
  const secrets = url === undefined ? [] : secretsOf(url)
  const own = new RegExp(secrets.map((secret) => secret.replace(/[^a-z0-9]/gi, '\\$&')).join('|') || '(?!)', 'gi')
  return (text) =>
    text
      .replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[url]')
      .replace(own, '[redacted]')
      .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, 160)
}

/** Longest first, so that a part of another one leaves no rest. */
function secretsOf(text: string): string[] {
  if (!URL.canParse(text)) return []
  const url = new URL(text)
  const credentials = [url.username, url.password]
  const basic = Buffer.from(credentials.map(decode).join(':')).toString('base64')
  const query = [...url.searchParams].map(([name, value]) => value || name)
  const parts = [...credentials, basic, ...hostSecrets(url.hostname), ...url.pathname.split('/'), ...query]
  const all = parts.flatMap((part) => [part, decode(part)]).filter((part) => part.length >= 4)
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/** Some providers put a key into the host name, in front of their domain. */
function hostSecrets(hostname: string): string[] {
  const labels = hostname.split('.')
  return labels.length < 2 ? [] : [hostname, ...labels.slice(0, -2).filter((label) => label.length >= 8)]
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function* chainOf(error: unknown): Generator<Error> {
  let link = error
  for (let depth = 0; link instanceof Error && depth < 10; depth++) {
    yield link
    link = link.cause
  }
}
