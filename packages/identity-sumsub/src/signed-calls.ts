/** Sends signed requests to the provider; maps failed answers to errors. Source: docs/interface.md 4.2, 7. @module */
import {
  ExcessiveJsonError,
  parseRetryAfter,
  parseUrl,
  readForeignJson,
  startTimeLimit,
} from '@payment-integration/contract/internal-io'
import {
  LateRequestError,
  ProviderAnswerError,
  type ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  TokenRejectedError,
} from './errors.js'

/** @throws TypeError When `value` is blank or has white space around it. The message does not repeat the value. */
export function checkCredential(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} is missing or blank; is its environment variable set?`)
  if (value.trim() !== value) throw new TypeError(`${name} has white space around it; trim it where it is read.`)
  return value
}

export type Digest = 'SHA-256' | 'SHA-512'

const encoder = new TextEncoder()

/** Makes a constant-time check of HMACs under a secret. It imports keys once, because anyone can trigger checks. */
export function createHmacCheck(secret: string) {
  const keys = new Map<Digest, ReturnType<typeof importKey>>()
  function getKey(digest: Digest) {
    const key = keys.get(digest) ?? importKey(digest, secret, 'verify')
    keys.set(digest, key)
    return key
  }
  return async (digest: Digest, hex: string, bytes: Uint8Array): Promise<boolean> => {
    const size = digest === 'SHA-256' ? 64 : 128
    if (hex.length !== size || !/^[0-9a-f]+$/.test(hex)) return false
    const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    return crypto.subtle.verify('HMAC', await getKey(digest), signature, new Uint8Array(bytes))
  }
}

function importKey(hash: Digest, secret: string, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash }, false, [use])
}

/** A JSON object, or null for anything else. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

/** A field of an object; undefined when absent. */
export function getField(value: unknown, name: string): unknown {
  const object = toRecord(value)
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

/** A text that is not empty, or null. */
export function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function toInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** The texts of a list, without entries of other types. */
export function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The signed parts of a request. */
interface SignatureInput {
  readonly secretKey: string
  /** Unix time in whole seconds; the provider accepts about a minute either way. */
  readonly timestamp: number
  /** In upper case, such as `POST`. */
  readonly method: string
  /** Path with the exact query, beginning with `/`. */
  readonly uri: string
  /** The exact bytes of the body. @default none */
  readonly body?: Uint8Array | undefined
}

/**
 * Computes the value of `X-App-Access-Sig` for a request: 64 lowercase hex digits.
 * @example
 * import { computeRequestSignature } from '@payment-integration/identity-sumsub'
 * const request = { timestamp: Math.floor(Date.now() / 1000), method: 'GET', uri: '/resources/applicants/1/one' }
 * const signature = await computeRequestSignature({ secretKey: process.env['SUMSUB_SECRET_KEY'] ?? '', ...request })
 */
export async function computeRequestSignature(input: SignatureInput): Promise<string> {
  const { secretKey, timestamp, method, uri, body } = input
  const head = encoder.encode(`${timestamp}${method}${uri}`)
  const signed = new Uint8Array(head.length + (body?.length ?? 0))
  signed.set(head)
  signed.set(body ?? [], head.length)
  const signature = await crypto.subtle.sign('HMAC', await importKey('SHA-256', secretKey, 'sign'), signed)
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Credentials at the provider, and the way to its address. */
export interface ProviderConnection {
  /** The app token, which identifies the caller. */
  readonly appToken: string
  /** The secret key, which signs requests. */
  readonly secretKey: string
  /** Address of the provider. @default https://api.sumsub.com */
  readonly baseUrl?: string | undefined
  /** Longest wait for a whole answer, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined
  /** Sends each request. @default the global fetch */
  readonly fetch?: typeof fetch | undefined
  /** The clock, in milliseconds since the epoch. The signature has whole seconds. @default Date */
  readonly clock?: { now(): number } | undefined
}

export interface ProviderAnswer {
  readonly status: number
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean
  /** The parsed JSON body, or undefined when it is not JSON. */
  readonly json: unknown
  /** The wait that the provider asks for, in milliseconds, or null. */
  readonly retryAfterMs: number | null
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Deadline for signing, in unix milliseconds of the option `clock`. A later request is not sent. @default none */
  readonly sendBy?: number | undefined
}

/** Size limit of an answer. An applicant with all recognized document data needs a fraction of it. */
const maxAnswerBytes = 1_048_576

/**
 * Creates the function that sends signed requests. It follows no redirect: a signature is for one address. It throws
 * ProviderUnavailableError, ProviderAnswerError, LateRequestError, or the abort reason.
 */
export function createSignedCall(connection: ProviderConnection) {
  const { baseUrl = 'https://api.sumsub.com', timeoutMs = 10_000 } = connection
  const appToken = checkCredential('appToken', connection.appToken)
  if (!/^[\x21-\x7e]+$/.test(appToken)) throw new TypeError('appToken has a space or non-ASCII letter; copy it again.')
  const secretKey = checkCredential('secretKey', connection.secretKey)
  const { fetch: send = globalThis.fetch, clock = Date } = connection
  const base = parseBase(baseUrl)
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 2_147_483_647))
    throw new RangeError(`timeoutMs is ${timeoutMs}; pass a whole number of milliseconds from 1 to 2147483647.`)
  return async (
    method: 'GET' | 'POST',
    path: string,
    query: Readonly<Record<string, string>>,
    { signal, sendBy = Number.POSITIVE_INFINITY }: CallOptions = {},
  ): Promise<ProviderAnswer> => {
    const search = new URLSearchParams(query).toString()
    const uri = `${base.path}${path}${search === '' ? '' : `?${search}`}`
    const url = new URL(`${base.origin}${uri}`)
    if (`${url.pathname}${url.search}` !== uri)
      throw new TypeError('An id has the form of a path: the request would go to another address than the signed one.')
    // The checked time is the signed one: from here on the provider itself rejects a late request.
    const signedAt = clock.now()
    if (!(signedAt <= sendBy)) throw new LateRequestError()
    const timestamp = Math.floor(signedAt / 1_000)
    const headers = {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      'X-App-Token': appToken,
      'X-App-Access-Ts': String(timestamp),
      'X-App-Access-Sig': await computeRequestSignature({ secretKey, timestamp, method, uri }),
    }
    const limit = startTimeLimit(timeoutMs, signal)
    try {
      const response = await send(url.href, { method, headers, redirect: 'manual', signal: limit.signal })
      const json = await readJson(response)
      const { status } = response
      const ok = status >= 200 && status <= 299
      return { status, ok, json, retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), clock.now()) }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ProviderAnswerError) throw error
      throw new ProviderUnavailableError(null)
    } finally {
      limit.end()
    }
  }
}

function parseBase(baseUrl: string): { readonly origin: string; readonly path: string } {
  const url = parseUrl(baseUrl)
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (
    url === null ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) ||
    url.username + url.password + url.search + url.hash !== ''
  )
    throw new TypeError(
      'baseUrl is not an https address without credentials, query and fragment (http only for this machine).',
    )
  return { origin: url.origin, path: url.pathname.replace(/\/{1,64}$/, '') }
}

/** Undefined when the answer is not JSON, or is an oversized rejection. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await readForeignJson(response, maxAnswerBytes)
  } catch (error) {
    // Compares the name, not the class: in a test runner, JSON.parse may throw an error of another realm.
    if ((Object(error) as Partial<Error>).name === 'SyntaxError') return undefined
    if (!(error instanceof ExcessiveJsonError)) throw error
    // The status of a rejection counts, whatever its body.
    if (!response.ok) return undefined
    throw new ProviderAnswerError(response.status, error.message)
  }
}

/**
 * Error numbers about the donor's token or verification, on which the integrator can act. Two numbers in the range mean
 * that reuse or copying is switched off for the service; its operator must act on those.
 */
const tokenErrorCodes = { first: 10_501, last: 10_599 }
const reuseDisabled = 10_505
/** The provider documents this number as `copy-applicant-disabled` and as `reusable-kyc-email-mismatch`. */
const ambiguous = { code: 10_518, tokenErrorName: 'reusable-kyc-email-mismatch' }

/** Longest part of the provider's description that an error keeps. */
const maxMessageLength = 500

/** Begins the description of a 401 about a share token. Any other 401 is about the credentials of the service. */
const invalidToken = 'Token is invalid'

/**
 * The error of a failed answer.
 * The provider uses 401 both for an expired or used share token and for the service's own signature, clock or app
 * token. Only the first may tell the integrator to mint a fresh token, and only if the call sent a share token.
 */
export function classifyFailure(
  { status, json, retryAfterMs }: ProviderAnswer,
  { sentShareToken }: { readonly sentShareToken: boolean },
): ProviderError {
  const code = toInteger(getField(json, 'errorCode'))
  if (status === 429) return new ProviderThrottledError(retryAfterMs)
  if (status === 408 || status >= 500) return new ProviderUnavailableError(status)
  if (status < 400) return new ProviderAnswerError(status, 'neither an answer nor an error')
  if (status === 409) return new ProviderAnswerError(status, 'a conflict with existing data')
  const name = toText(getField(json, 'errorName'))
  const description = toText(getField(json, 'description'))
  if (sentShareToken && isAboutToken(status, { code, name, description }))
    return new TokenRejectedError((description || name || `Error ${code}`).slice(0, maxMessageLength), code)
  return new ProviderSetupError(status, code)
}

function isAboutToken(
  status: number,
  rejection: { readonly code: number | null; readonly name: string | null; readonly description: string | null },
): boolean {
  const { code, name, description } = rejection
  if (code === ambiguous.code) return name === ambiguous.tokenErrorName
  if (code !== null) return code >= tokenErrorCodes.first && code <= tokenErrorCodes.last && code !== reuseDisabled
  return status === 401 && description !== null && description.startsWith(invalidToken)
}
