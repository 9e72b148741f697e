/** Makes one call: ky sends, waits and retries; answers and rejections are parsed. @module */
import { errorBodySchema, type SchemaReader, type UnknownPart } from '@payment-integration/contract'
import { notFoundBody } from '@payment-integration/contract/internal'
import ky, { isHTTPError, isTimeoutError } from 'ky'
import {
  AbortedError,
  ClientError,
  InvalidResponseError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnauthorizedError,
} from '../errors.js'
import type { ClientWarning, Transport } from '../transport-options.js'
import { createBufferedFetch } from './buffered-fetch.js'
import { hideTexts } from './check.js'

interface RejectionSchema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false }
}

/**
 * Maps the parsed body of a rejection, with the whole seconds of its `Retry-After`, to its error; null when the body is
 * not the service's own.
 */
type Rejection = (body: unknown, retryAfterSeconds: number | null) => ClientError | null

/**
 * The rejections of an endpoint, by status. 401 and 429 mean the same for every endpoint and are absent. A status of
 * 500 or more is present only if the endpoint has its own body for it. With any other body it means an outage.
 */
export type Rejections = Readonly<Record<number, Rejection>>

/** Accepts a rejection only with a body of the service: an error page of a proxy is no answer. */
export function rejectWithBody<T>(
  schema: RejectionSchema<T>,
  toError: (body: T, retryAfterSeconds: number | null) => ClientError | null,
): Rejection {
  return (body, retryAfterSeconds) => {
    const parsed = schema.safeParse(body)
    return parsed.success ? toError(parsed.data, retryAfterSeconds) : null
  }
}

/** Accepts a 404 for a missing record, not for an unknown path, as a wrong `baseUrl` would give. */
export function rejectMissing(toError: () => ClientError): Rejection {
  return rejectWithBody(errorBodySchema, ({ error }) => (error === notFoundBody.error ? null : toError()))
}

/** Accepts a rejection only with this `error` text. Other fields of the body may vary. */
export function rejectWithText(text: string, toError: (retryAfterSeconds: number | null) => ClientError): Rejection {
  return rejectWithBody(errorBodySchema, ({ error }, seconds) => (error === text ? toError(seconds) : null))
}

/** The most warnings of one client; each unknown part gives one. */
const maxWarnings = 100
/** Longest shown part of a name or value of the answer. */
const maxShownCharacters = 64

/**
 * Handles the unknown parts of answers: throws if `strict`, else warns once about each. Shows neither the
 * `clientSecrets` nor the `secrets` of the call.
 */
export function createUnknownHandler(
  transport: Pick<Transport, 'strict' | 'onWarning'>,
  clientSecrets: readonly string[],
) {
  const { strict, onWarning } = transport
  const warned = new Set<string>()
  return (unknownParts: readonly UnknownPart[], secrets: readonly string[]): void => {
    if (unknownParts.length === 0 || (!strict && onWarning === null)) return
    for (const { kind, path, value: unknown } of unknownParts) {
      const show = (text: string) => hideTexts(text, [...clientSecrets, ...secrets]).slice(0, maxShownCharacters)
      const shownPath = path.map((part) => quoteUnlessPlain(show(part))).join('.')
      if (strict) throw new InvalidResponseError(kind === 'field' ? 'unknown_field' : 'unknown_value', 200, shownPath)
      const value = unknown === null ? null : show(unknown)
      const key = JSON.stringify([shownPath, value])
      if (warned.has(key) || warned.size === maxWarnings) continue
      warned.add(key)
      onWarning?.(buildWarning(shownPath, value))
    }
  }
}

/** Quotes a part of a path, unless it looks like a field name: a hostile name must not forge a log line. */
function quoteUnlessPlain(part: string): string {
  return /^[\w*[\]-]+$/.test(part) ? part : quote(part)
}

/** Formats as a JSON string of printable ASCII. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function buildWarning(path: string, value: string | null): ClientWarning {
  const fact =
    value === null
      ? `The answer has a field that this version does not know: ${path}. It is kept.`
      : `${path} is ${quote(value)}, which this version does not know. It is passed on.`
  const message = `${fact} The service is newer than this package: update it.`
  return { kind: value === null ? 'unknown_field' : 'unknown_value', path, value, message }
}

interface Credentials {
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** Texts that no warning and no error may show, even if an answer repeats them. */
  readonly secrets: readonly string[]
  /** The options that hold the credentials, in words, for the error of a 401. */
  readonly optionNames: string
}

/** A request to make. It is retried after a failure, so it must be idempotent. */
interface Call<T> {
  /** Below the base URL, beginning with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON, by POST. Without it the call is a GET. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
  readonly schema: SchemaReader<T>
  /** Further texts that no warning and no error may show. */
  readonly secrets?: readonly string[] | undefined
  readonly rejections: Rejections
  readonly signal: AbortSignal | undefined
}

export type Requester = <T>(call: Call<T>) => Promise<T>

const retriedStatuses = [429, 502, 503, 504]

/** Creates the function that makes calls. The secret stays in its closure: no result and no error refers to it. */
export function createRequester(transport: Transport, credentials: Credentials): Requester {
  const { baseUrl, timeoutMs, totalTimeoutMs, maxRetries, retryDelayMs, maxRetryDelayMs, random, clock } = transport
  const handleUnknown = createUnknownHandler(transport, credentials.secrets)
  const service = ky.create({
    prefixUrl: baseUrl,
    headers: { authorization: credentials.authorization, accept: 'application/json' },
    timeout: timeoutMs,
    retry: {
      limit: maxRetries,
      methods: ['get', 'post'],
      statusCodes: retriedStatuses,
      afterStatusCodes: retriedStatuses,
      retryOnTimeout: true,
      delay: (retry) => Math.min(maxRetryDelayMs, retryDelayMs * 2 ** (retry - 1)),
      jitter: (delayMs) => random() * delayMs,
    },
  })

  /** Maps an error of ky to an error of this package. An error of the caller's own function stays unchanged. */
  async function toFailure(error: unknown, rejections: Rejections): Promise<unknown> {
    if (isHTTPError(error)) return toClientError(error.response, rejections, credentials.optionNames)
    if (isTimeoutError(error) && !(error instanceof ClientError)) return new TimeoutError('try', timeoutMs)
    return error
  }

  return async (call) => {
    if (call.signal?.aborted) throw new AbortedError()
    const { path, query = {}, json, rejections } = call
    const deadline = clock.now() + totalTimeoutMs
    /** The failure of the last attempt, while the call waits for the next one. */
    let failure: unknown
    const aborter = new AbortController()
    // The listener is removed afterwards, because a caller's signal may outlive thousands of calls.
    const abort = () => aborter.abort(new AbortedError())
    call.signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(() => aborter.abort(failure ?? new TimeoutError('total', totalTimeoutMs)), totalTimeoutMs)
    const bufferedFetch = createBufferedFetch({
      ...transport,
      hasBody: (status) => status === 200 || status in rejections,
      secrets: [...credentials.secrets, ...(call.secrets ?? [])],
    })
    try {
      const response = await service(path.slice(1), {
        ...(json === undefined ? {} : { method: 'post', json }),
        searchParams: query,
        signal: aborter.signal,
        fetch(request) {
          failure = undefined
          return bufferedFetch(request as Request)
        },
        retry: {
          async shouldRetry({ error }) {
            failure = await toFailure(error, rejections)
            if (!(failure instanceof ClientError) || !failure.retryable) return false
            if (!isHTTPError(error)) return undefined
            const { status, headers } = error.response
            const waitMs = Number(headers.get('retry-after')) * 1_000
            if (!(clock.now() + waitMs < deadline)) return false
            // ky sends at once after a Retry-After of 0 or of a past date. `true` takes the usual backoff instead.
            return waitMs === 0 && retriedStatuses.includes(status) ? true : undefined
          },
        },
      })
      if (response.status !== 200) throw new InvalidResponseError('status', response.status)
      return parseAnswer(call, await response.arrayBuffer(), handleUnknown)
    } catch (error) {
      throw aborter.signal.aborted ? aborter.signal.reason : await toFailure(error, rejections)
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', abort)
    }
  }
}

async function toClientError(
  response: Response,
  rejections: Rejections,
  credentialOptionNames: string,
): Promise<ClientError> {
  const { status } = response
  const seconds = response.headers.get('retry-after')
  const retryAfterSeconds = seconds === null ? null : Math.ceil(Number(seconds))
  const rejection = rejections[status]
  if (rejection) {
    // A clone, because the body of the last attempt is read twice: for the retry decision, and for the final error.
    const rejected = rejection(parseJson(await response.clone().arrayBuffer()), retryAfterSeconds)
    if (rejected) return rejected
  }
  if (status === 401) return new UnauthorizedError(credentialOptionNames)
  if (status === 429) return new RateLimitedError(retryAfterSeconds)
  if (status >= 500) return new ServiceUnavailableError(status, retryAfterSeconds)
  return new InvalidResponseError('status', status)
}

function parseAnswer<T>(
  { schema, secrets = [] }: Call<T>,
  body: ArrayBuffer,
  handleUnknown: ReturnType<typeof createUnknownHandler>,
): T {
  const value = parseJson(body)
  if (value === undefined) throw new InvalidResponseError('not_json', 200)
  const result = schema.safeParse(value)
  if (result.success) {
    handleUnknown(result.unknownParts, secrets)
    return result.data
  }
  // The path names only fields of our schema. zod's message is omitted, because it may quote the value.
  throw new InvalidResponseError('schema', 200, result.error.issues[0]?.path.map(String).join('.') ?? null)
}

/** Parses UTF-8 JSON; undefined for any other body, because no JSON has this value. */
export function parseJson(body: ArrayBuffer | Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
