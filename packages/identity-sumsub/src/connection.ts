/**
 * Sends signed requests to the provider, with a timeout and a size limit, and maps failed answers to errors.
 * Source: docs/interface.md 4.2, 7 (422); docs/decisions/identity-provider.md.
 * @module
 */

import { startTimeLimit } from '@payment-integration/contract/internal-answers'
import { ExcessiveJsonError, parseRetryAfter, readForeignJson } from '@payment-integration/contract/internal-parse'
import {
  ProviderAnswerError,
  type ProviderError,
  ProviderSetupError,
  ProviderThrottledError,
  ProviderUnavailableError,
  RequestLateError,
  TokenRejectedError,
} from './errors.js'
import { checkCredential, hmacHex } from './internal/hmac.js'

/** A JSON object, or null for anything else. */
export function record(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

/** A field of an object; undefined when absent. */
export function field(value: unknown, name: string): unknown {
  const object = record(value)
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

/** A text that is not empty, or null. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A whole number, or null. */
function whole(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** The texts of a list, without entries of other types. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The signed parts of a request. */
export interface RequestToSign {
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

/** The value of `X-App-Access-Sig`: 64 lowercase hex digits. */
export function signRequest({ secretKey, timestamp, method, uri, body }: RequestToSign): Promise<string> {
  return hmacHex('SHA-256', secretKey, `${timestamp}${method}${uri}`, body ?? new Uint8Array(0))
}

/** Connection options for the provider. */
export interface ProviderConnection {
  /** The app token, which identifies the caller. */
  readonly appToken: string
  /** The secret key, which signs requests. */
  readonly secretKey: string
  /** @default the provider's own */
  readonly baseUrl?: string | undefined
  /** Longest wait for a whole answer, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined
  /** @default the runtime's */
  readonly fetch?: typeof fetch | undefined
  /** The clock, in milliseconds since the epoch. The signature has whole seconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** Defaults of {@link ProviderConnection}. */
export const connectionDefaults = { baseUrl: 'https://api.sumsub.com', timeoutMs: 10_000 } as const

/** An answer of the provider. */
export interface ProviderAnswer {
  readonly status: number
  /** The parsed JSON body, or undefined when it is not JSON. */
  readonly json: unknown
  /** The wait that it asks for, in milliseconds, or null. */
  readonly retryAfterMs: number | null
}

/** Options that stop a request early. */
interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Deadline for signing, in unix milliseconds of {@link ProviderConnection.now}. A later request is not sent.
   * @default none
   */
  readonly sendBy?: number | undefined
}

/**
 * Sends one request.
 * @throws ProviderUnavailableError, ProviderAnswerError, RequestLateError, or the caller's own abort reason.
 */
type Call = (
  method: 'GET' | 'POST',
  path: string,
  query: Readonly<Record<string, string>>,
  options?: CallOptions,
) => Promise<ProviderAnswer>

/** Size limit of an answer. An applicant with all recognised document data needs a fraction of it. */
const mostBytes = 1_048_576

/**
 * Makes the function that sends signed requests. Redirects are not followed: a signature is for one address.
 * @throws TypeError When a credential is blank or not valid in a header, or the address is neither https nor loopback.
 * @throws RangeError When `timeoutMs` is out of range.
 */
export function createCall(connection: ProviderConnection): Call {
  const { baseUrl = connectionDefaults.baseUrl, timeoutMs = connectionDefaults.timeoutMs } = connection
  const appToken = checkCredential('appToken', connection.appToken)
  if (!/^[\x21-\x7e]+$/.test(appToken)) throw new TypeError('appToken holds characters that no header can carry.')
  const secretKey = checkCredential('secretKey', connection.secretKey)
  const { fetch: send = globalThis.fetch, now = Date.now } = connection
  const base = parseBase(baseUrl)
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 2_147_483_647))
    throw new RangeError(`timeoutMs is ${timeoutMs}; pass a whole number of milliseconds from 1 to 2147483647.`)
  return async (method, path, query, { signal, sendBy = Number.POSITIVE_INFINITY } = {}) => {
    const search = new URLSearchParams(query).toString()
    const uri = `${base.path}${path}${search === '' ? '' : `?${search}`}`
    const sent = new URL(`${base.origin}${uri}`)
    if (`${sent.pathname}${sent.search}` !== uri)
      throw new TypeError('An id has the form of a path: it would be sent to another address than the one signed.')
    // The checked time is the signed one: from here on the provider itself rejects a late request.
    const signedAt = now()
    if (!(signedAt <= sendBy)) throw new RequestLateError()
    const timestamp = Math.floor(signedAt / 1_000)
    const headers = {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      'X-App-Token': appToken,
      'X-App-Access-Ts': String(timestamp),
      'X-App-Access-Sig': await signRequest({ secretKey, timestamp, method, uri }),
    }
    const limit = startTimeLimit(timeoutMs, signal)
    try {
      const response = await send(sent.href, { method, headers, redirect: 'manual', signal: limit.signal })
      const json = await readJson(response)
      return {
        status: response.status,
        json,
        retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), now()),
      }
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
  const url = readUrl(baseUrl)
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

/** Undefined when the answer is not JSON. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await readForeignJson(response, mostBytes)
  } catch (error) {
    // By name: the error of JSON.parse comes from another realm where a test runner shares its globals.
    if ((Object(error) as Partial<Error>).name === 'SyntaxError') return undefined
    if (!(error instanceof ExcessiveJsonError)) throw error
    // The status of a refusal counts, whatever its body.
    if (!response.ok) return undefined
    throw new ProviderAnswerError(response.status, error.message)
  }
}

/** Not from `contract`, whose schemas would come along: a browser's bundle must stay small. */
function readUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * Error numbers about the donor's token or verification, on which the integrator can act. Two numbers in the range mean
 * that reuse or copying is switched off for the service; its operator must act on those.
 */
const aboutToken = { first: 10_501, last: 10_599 }
const reuseDisabled = 10_505
/**
 * An ambiguous number: `copy-applicant-disabled` on the provider's page on copying, `reusable-kyc-email-mismatch` in
 * its list for reuse.
 */
const ambiguous = { code: 10_518, aboutToken: 'reusable-kyc-email-mismatch' }

/** Longest part of the provider's description that an error keeps. */
const mostCharacters = 500

/**
 * The description of a rejected share token without a number. Any other 401 is about the service's own credentials.
 */
const invalidToken = 'Token is invalid'

/**
 * The error of a failed answer.
 *
 * The provider uses 401 both for an expired or used share token and for the service's own signature, clock or app
 * token. Only the first may tell the integrator to mint a fresh token, and only if the call sent a share token.
 */
export function classifyFailure(
  { status, json, retryAfterMs }: ProviderAnswer,
  { sentShareToken }: { readonly sentShareToken: boolean },
): ProviderError {
  const code = whole(field(json, 'errorCode'))
  if (status === 429) return new ProviderThrottledError(retryAfterMs)
  if (status === 408 || status >= 500) return new ProviderUnavailableError(status)
  if (status < 400) return new ProviderAnswerError(status, 'neither an answer nor an error')
  if (status === 409) return new ProviderAnswerError(status, 'a conflict with what is there already')
  const name = text(field(json, 'errorName'))
  const description = text(field(json, 'description'))
  if (sentShareToken && isAboutToken(status, { code, name, description }))
    return new TokenRejectedError((description || name || `Error ${code}`).slice(0, mostCharacters), code)
  return new ProviderSetupError(status, code)
}

function isAboutToken(
  status: number,
  said: { readonly code: number | null; readonly name: string | null; readonly description: string | null },
): boolean {
  const { code, name, description } = said
  if (code === ambiguous.code) return name === ambiguous.aboutToken
  if (code !== null) return code >= aboutToken.first && code <= aboutToken.last && code !== reuseDisabled
  return status === 401 && description !== null && description.startsWith(invalidToken)
}
