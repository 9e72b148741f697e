/** One call: tries, waits and time limits around `attempt`. ky runs the loop; what it does is decided here. @module */
import { isTimeoutError } from 'ky'
import { basicAuthorization } from '../basic-auth.js'
import { AbortedError, ClientError, InvalidResponseError, TimeoutError } from '../errors.js'
import type { CheckedOptions } from '../options.js'
import { attempt, type Lookup } from './attempt.js'
import { ky } from './ky.js'
import { parseJson } from './read-body.js'
import { planRetry } from './retry.js'

/** The part of a schema that reading needs. */
export interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false
        readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }
      }
}

/** A GET to make. */
export interface Call<T> {
  /** Below the base URL, beginning with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly schema: Schema<T>
  readonly lookup: Lookup | null
  readonly signal: AbortSignal | undefined
}

/** Makes a call and resolves its parsed answer. */
export type Requester = <T>(call: Call<T>) => Promise<T>

/** Binds the options. The secret stays in this closure; nothing that is returned or thrown refers to it. */
export function createRequester(options: CheckedOptions): Requester {
  const headers = {
    authorization: basicAuthorization(options.integrationAddress, options.apiSecret),
    accept: 'application/json',
  }
  return async (call) => {
    if (call.signal?.aborted) throw new AbortedError()
    const total = new AbortController()
    // A listener that is taken off again, because a caller's signal may outlive thousands of calls.
    const abort = () => total.abort()
    call.signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(abort, options.totalTimeoutMs)
    try {
      const body = await fetchBody(call, headers, total.signal, options)
      return parse(call.schema, body)
    } catch (error) {
      if (call.signal?.aborted) throw new AbortedError()
      if (total.signal.aborted) throw new TimeoutError('total', options.totalTimeoutMs)
      if (error instanceof ClientError) throw error
      if (isTimeoutError(error)) throw new TimeoutError('try', options.timeoutMs)
      // Not of the network: a mistake in a function of the caller's, which no retry would heal.
      throw error
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', abort)
    }
  }
}

async function fetchBody<T>(
  call: Call<T>,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  options: CheckedOptions,
): Promise<Uint8Array> {
  const { timeoutMs, totalTimeoutMs, retries, retryDelayMs, maxRetryDelayMs, random, now } = options
  const deadline = now() + totalTimeoutMs
  let waitMs = 0
  const response = await ky(options.baseUrl + call.path, {
    headers,
    signal,
    redirect: 'manual',
    timeout: timeoutMs,
    throwHttpErrors: false,
    ...(call.query ? { searchParams: { ...call.query } } : {}),
    fetch: (input) => attempt(input as Request, call.lookup, options),
    retry: {
      limit: retries,
      shouldRetry({ error, retryCount: retry }) {
        const plan = { error, timedOut: isTimeoutError(error), retry, retryDelayMs, maxRetryDelayMs, random }
        const planned = signal.aborted ? null : planRetry({ ...plan, remainingMs: deadline - now() })
        waitMs = planned ?? 0
        return planned !== null
      },
      delay: () => waitMs,
    },
  })
  return new Uint8Array(await response.arrayBuffer())
}

function parse<T>(schema: Schema<T>, body: Uint8Array): T {
  const value = parseJson(body)
  if (value === undefined) throw new InvalidResponseError('not_json', 200)
  const result = schema.safeParse(value)
  if (result.success) return result.data
  // The path names fields of our own schema only; zod's message is left out because it may quote the value.
  throw new InvalidResponseError('schema', 200, result.error.issues[0]?.path.map(String).join('.') ?? null)
}
