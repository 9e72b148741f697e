/** Answers a request: checks method, body and size, and calls `receive` within the deadline. @module */
import type { HeadersLike } from '../../delivery.js'
import { isWebhookRejection, WebhookError } from '../../errors.js'
import { isRaw } from '../../read-body.js'
import type { HandlerSettings, IncomingDelivery } from '../handler-options.js'
import { createTooLargeError, HandlerError } from '../handler-options.js'

/** A request of Node, fetch or Lambda, in one form for all adapters. */
export interface AnyRequest {
  readonly method: string
  readonly headers: HeadersLike
  /** The declared length of the body, in bytes, when there is one. */
  readonly declaredBytes: number | undefined
  /** The kind of value in place of raw bytes, to complete "The body is"; `undefined` when there are raw bytes. */
  readonly nonRawKind: string | undefined
  /** The instruction that helps in this framework when the bytes are not raw. */
  readonly cure: string
  /** Reads the body, once. @throws HandlerError `ERR_BODY_TOO_LARGE`, `ERR_BODY_UNREADABLE`, `ERR_BODY_NOT_RAW`. */
  read(maxBytes: number, signal: AbortSignal): Promise<Uint8Array>
}

/** A response. Strangers read it, so its text follows from the status alone. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty when there is none. */
  readonly body: string
}

/** Called with work that goes on after the answer, for runtimes that would otherwise stop it. */
export type OnLateWork = (work: Promise<unknown>) => void

/** Answers a request, and never rejects. */
export async function answer(request: AnyRequest, settings: HandlerSettings, onLateWork?: OnLateWork): Promise<Answer> {
  try {
    await receiveInTime(request, settings, onLateWork)
    return { status: 204, headers: {}, body: '' }
  } catch (error) {
    const rejection = error instanceof WebhookError || isWebhookRejection(error) ? error : undefined
    const isRejected = rejection !== undefined && rejection.status < 500
    if (isRejected) void notify(() => settings.onRejection(rejection))
    if (!isRejected || signedRejectionCodes.has(rejection.code)) reportError(settings, error)
    const isBusy = busyCodes.has((Object(error) as { code?: unknown }).code)
    return buildAnswer(rejection?.status ?? (isBusy ? 503 : 500))
  }
}

async function receiveInTime(request: AnyRequest, settings: HandlerSettings, onLateWork?: OnLateWork): Promise<void> {
  assertDeliverable(request, settings.maxBytes)
  const controller = new AbortController()
  const body = createLazyBody(request, settings.maxBytes, controller.signal)
  const delivery: IncomingDelivery = {
    headers: request.headers,
    bodyUsed: false,
    arrayBuffer: body.arrayBuffer,
    signal: controller.signal,
  }
  const work = (async () => settings.receive(delivery))()

  let deadlineError: HandlerError | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadlineError = createDeadlineError(body.state.isReading, settings.deadlineMs)
      reject(deadlineError)
    }, settings.deadlineMs)
  })
  try {
    await Promise.race([work, deadline])
  } catch (error) {
    // The verifier wraps errors of the body. The adapter's own error names the reason.
    throw body.state.failure ?? error
  } finally {
    clearTimeout(timer)
    if (deadlineError !== undefined) {
      controller.abort(deadlineError)
      // A failure after the deadline is reported too, unless the deadline caused it.
      const settled = work.catch((error) => {
        const isStopped = error === deadlineError || (Object(error) as { name?: unknown }).name === 'AbortError'
        if (!isStopped && body.state.failure === undefined) reportError(settings, error)
      })
      onLateWork?.(settled)
    }
  }
  // Even if `receive` caught the error of the body, it received nothing.
  if (body.state.failure !== undefined) throw body.state.failure
}

/** Checks the head of the request, before anything is read. */
function assertDeliverable(request: AnyRequest, maxBytes: number): void {
  if (request.method !== 'POST')
    throw new HandlerError('ERR_METHOD_NOT_ALLOWED', 'The method is not POST; deliveries use no other.')
  if (request.nonRawKind !== undefined) throw notRaw(request.nonRawKind, request.cure)
  if (request.declaredBytes !== undefined && request.declaredBytes > maxBytes) throw createTooLargeError(maxBytes)
}

/** The message names the kind of the body and never its content. */
export function notRaw(kind: string, cure: string): HandlerError {
  return new HandlerError('ERR_BODY_NOT_RAW', `The body is ${kind}; the signature covers the raw bytes. ${cure}`)
}

function createLazyBody(request: AnyRequest, maxBytes: number, signal: AbortSignal) {
  const state: { isReading: boolean; failure: unknown } = { isReading: false, failure: undefined }
  let bytes: Promise<ArrayBuffer> | undefined
  const read = async (): Promise<ArrayBuffer> => {
    state.isReading = true
    try {
      return toExactBuffer(await request.read(maxBytes, signal))
    } catch (error) {
      state.failure = error
      throw error
    } finally {
      state.isReading = false
    }
  }
  return { state, arrayBuffer: () => (bytes ??= read()) }
}

/** Copies the bytes if their buffer holds more than the body: Node's small buffers share one pool. */
function toExactBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = bytes
  return isRaw(buffer) && buffer.byteLength === byteLength ? buffer : new Uint8Array(bytes).buffer
}

function createDeadlineError(isReading: boolean, deadlineMs: number): HandlerError {
  return isReading
    ? new HandlerError('ERR_BODY_TIMEOUT', `The body did not arrive within ${deadlineMs} ms.`)
    : new HandlerError(
        'ERR_RECEIVE_TIMEOUT',
        `receive took longer than ${deadlineMs} ms, and the service waits 5 s. Store the delivery, answer, then work.`,
      )
}

/**
 * Rejections of signed deliveries. No stranger causes them, and every version is lost until somebody fixes the cause.
 */
const signedRejectionCodes = new Set(['ERR_SNAPSHOT_INVALID', 'ERR_INTEGRATION_MISMATCH'])

/**
 * Codes that mean "try again soon": of the version store, of SQLite, and of PostgreSQL for serialization, deadlock,
 * lock, too many connections and starting up.
 */
const busyCodes = new Set<unknown>([
  'ERR_VERSION_STORE_BUSY',
  'SQLITE_BUSY',
  '40001',
  '40P01',
  '55P03',
  '53300',
  '57P03',
])

const texts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

function buildAnswer(status: number): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...(status === 405 && { Allow: 'POST' }) },
    body: JSON.stringify({ error: texts[status] ?? 'Rejected' }),
  }
}

function reportError(settings: HandlerSettings, error: unknown): void {
  void notify(() => settings.onError(error))
}

async function notify(listener: () => unknown): Promise<void> {
  try {
    await listener()
  } catch {
    // A listener that fails changes no answer.
  }
}
