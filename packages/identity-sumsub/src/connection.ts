/** Sends signed requests to the provider, with a timeout and a size limit. @module */
import { startTimeLimit } from '@payment-integration/contract/answers'
import { ExcessiveJsonError, parseRetryAfter, readForeignJson } from '@payment-integration/contract/parse'
import { ProviderAnswerError, ProviderUnavailableError, RequestLateError } from './errors.js'
import { checkCredential } from './internal/check-secret.js'
import { signRequest } from './sign-request.js'

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
export interface CallOptions {
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
export type Call = (
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
