/** Makes one call: attempts, waits and timeouts. ky runs the loop; this file decides. @module */
import { isTimeoutError } from 'ky'
import { AbortedError, ClientError, InvalidResponseError, TimeoutError } from '../errors.js'
import type { Transport } from '../transport-options.js'
import { attempt } from './attempt.js'
import { ky } from './ky.js'
import { parseJson } from './read-body.js'
import type { Refusals } from './refusals.js'
import { planRetry } from './retry.js'
import type { Schema } from './schema.js'
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
      if (error instanceof ClientError) throw error
      if (isTimeoutError(error)) throw new TimeoutError('try', transport.timeoutMs)
      // An error of the caller's own function: no retry helps.
      throw error
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', abort)
    }
  }
}

async function fetchBody<T>(
  call: Call<T>,
  credentials: Credentials,
  signal: AbortSignal,
  transport: Transport,
): Promise<Uint8Array> {
  const { timeoutMs, totalTimeoutMs, retries, retryDelayMs, maxRetryDelayMs, random, now } = transport
  const deadline = now() + totalTimeoutMs
  let waitMs = 0
  let body = new Uint8Array(0)
  await ky(transport.baseUrl + call.path, {
    headers: { authorization: credentials.authorization, accept: 'application/json' },
    signal,
    redirect: 'manual',
    timeout: timeoutMs,
    throwHttpErrors: false,
    ...(call.query ? { searchParams: { ...call.query } } : {}),
    ...(call.json ? { method: 'post', json: call.json } : {}),
    async fetch(input) {
      body = await attempt(input as Request, call.refusals, credentials, transport)
      // The body is already read, so timeout and retries cover it. ky only needs a response.
      return new Response(null)
    },
    retry: {
      limit: retries,
      methods: ['get', 'post'],
      shouldRetry({ error, retryCount: retry }) {
        const plan = { error, timedOut: isTimeoutError(error), retry, retryDelayMs, maxRetryDelayMs, random }
        const planned = signal.aborted ? null : planRetry({ ...plan, remainingMs: deadline - now() })
        waitMs = planned ?? 0
        return planned !== null
      },
      delay: () => waitMs,
    },
  })
  return body
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
