/** Makes one call: attempts, waits and timeouts. @module */
import { AbortedError, InvalidResponseError, TimeoutError } from '../errors.js'
import type { Transport } from '../transport-options.js'
import { attempt } from './attempt.js'
import { parseJson } from './read-body.js'
import type { Refusals } from './refusals.js'
import { planRetry } from './retry.js'
import type { Schema } from './schema.js'
import { pause, within } from './time-limits.js'
import { createWatch, type Watch } from './unknown-parts.js'

/** The caller's credentials. */
export interface Credentials {
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** Texts that no warning and no error may show, even if an answer repeats them. */
  readonly secrets: readonly string[]
  /** The options that hold the credentials, in words, for the error of a 401. */
  readonly options: string
}

/** A request to make. It is retried after a failure, so it must be idempotent. */
export interface Call<T> {
  /** Below the base URL, beginning with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON, by POST. Without it the call is a GET. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
  readonly schema: Schema<T>
  /** Further texts that no warning and no error may show. */
  readonly secrets?: readonly string[] | undefined
  readonly refusals: Refusals
  readonly signal: AbortSignal | undefined
}

/** Makes a call and resolves its parsed answer. */
export type Requester = <T>(call: Call<T>) => Promise<T>

/** Binds the options. The secret stays in this closure: no result and no error refers to it. */
export function createRequester(transport: Transport, credentials: Credentials): Requester {
  const watch = createWatch(transport, credentials.secrets)
  return async (call) => {
    if (call.signal?.aborted) throw new AbortedError()
    const total = new AbortController()
    // The listener is removed afterwards, because a caller's signal may outlive thousands of calls.
    const abort = () => total.abort()
    call.signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(abort, transport.totalTimeoutMs)
    try {
      const body = await fetchBody(call, credentials, total.signal, transport)
      return parse(call, body, watch)
    } catch (error) {
      if (call.signal?.aborted) throw new AbortedError()
      if (total.signal.aborted) throw new TimeoutError('total', transport.totalTimeoutMs)
      throw error
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', abort)
    }
  }
}

/** Resolves the body of the answer. An error of the caller's own function is final: no retry helps. */
async function fetchBody<T>(
  call: Call<T>,
  credentials: Credentials,
  signal: AbortSignal,
  transport: Transport,
): Promise<Uint8Array> {
  const { totalTimeoutMs, retries, retryDelayMs, maxRetryDelayMs, random, now } = transport
  const deadline = now() + totalTimeoutMs
  const url = addressOf(call, transport.baseUrl)
  for (let retry = 1; ; retry += 1) {
    try {
      return await within(transport.timeoutMs, signal, (cut) =>
        attempt(requestOf(call, url, credentials, cut), call.refusals, credentials, transport),
      )
    } catch (error) {
      const isFinal = signal.aborted || retry > retries
      const plan = { error, retry, retryDelayMs, maxRetryDelayMs, random, remainingMs: deadline - now() }
      const waitMs = isFinal ? null : planRetry(plan)
      if (waitMs === null) throw error
      await pause(waitMs, signal)
    }
  }
}

function addressOf<T>({ path, query = {} }: Call<T>, baseUrl: string): string {
  const parameters = new URLSearchParams(query).toString()
  return baseUrl + path + (parameters === '' ? '' : `?${parameters}`)
}

function requestOf<T>({ json }: Call<T>, url: string, { authorization }: Credentials, signal: AbortSignal): Request {
  const headers = { authorization, accept: 'application/json' }
  if (json === undefined) return new Request(url, { headers, signal, redirect: 'manual' })
  return new Request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(json),
    signal,
    redirect: 'manual',
  })
}

function parse<T>({ schema, secrets = [] }: Call<T>, body: Uint8Array, watch: Watch): T {
  const value = parseJson(body)
  if (value === undefined) throw new InvalidResponseError('not_json', 200)
  const result = schema.safeParse(value)
  if (result.success) {
    watch(result.unknownParts, secrets)
    return result.data
  }
  // The path names only fields of our schema. zod's message is omitted, because it may quote the value.
  throw new InvalidResponseError('schema', 200, result.error.issues[0]?.path.map(String).join('.') ?? null)
}
