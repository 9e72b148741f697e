/** Receives deliveries in AWS Lambda, from a REST API, an HTTP API (payload 1.0, 2.0) or a function URL. @module */
import type { HeadersLike } from '../delivery.js'
import { createTooLargeError, createUnreadableError, type HandlerOptions, resolveSettings } from './handler-options.js'
import { type AnyRequest, answer } from './internal/answer.js'

/** The used part of an event. */
export interface LambdaEventLike {
  /** Payload 1.0. */
  readonly httpMethod?: string
  /** Payload 2.0 has the method here. */
  readonly requestContext?: { readonly requestId?: string; readonly http?: { readonly method: string } }
  readonly headers?: { readonly [name: string]: string | undefined } | null
  /** Payload 1.0: every value of a repeated header. */
  readonly multiValueHeaders?: { readonly [name: string]: readonly string[] | undefined } | null
  readonly body?: string | null
  readonly isBase64Encoded?: boolean
}

/** The used part of the context. */
export interface LambdaContextLike {
  /** Emulators may have none. */
  getRemainingTimeInMillis?(): number
}

/** The result that API Gateway and function URLs turn into a response. */
export interface LambdaResult {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** The function's handler. It never rejects. */
export type LambdaHandler = (event: LambdaEventLike, context?: LambdaContextLike) => Promise<LambdaResult>

/** Milliseconds left for the answer before the function's own time-out, which would stop the function unanswered. */
const reserveMs = 250

/**
 * Creates the handler of a function. It answers before the function's own time-out (3 seconds unless you set it).
 * @throws {TypeError | RangeError} When an option is unusable.
 * @example
 * import { createLambdaHandler } from '@payment-integration/webhook/lambda'
 * import { receive } from './receive.js'
 * export const handler = createLambdaHandler({ receive })
 */
export function createLambdaHandler(options: HandlerOptions): LambdaHandler {
  const settings = resolveSettings(options)
  return async (event, context) => {
    const remainingMs = context?.getRemainingTimeInMillis?.() ?? Infinity
    const deadlineMs = Math.max(1, Math.min(settings.deadlineMs, remainingMs - reserveMs))
    const { status, headers, body } = await answer(adaptEvent(event), { ...settings, deadlineMs })
    return { statusCode: status, headers: { ...headers }, body }
  }
}

function adaptEvent(event: LambdaEventLike): AnyRequest {
  return {
    method: event.httpMethod || event.requestContext?.http?.method || '',
    headers: mergeHeaders(event),
    declaredBytes: undefined,
    nonRawKind: typeof (event.body ?? '') === 'string' ? undefined : 'an object, so something parsed it',
    cure: "Take the body parser off this function (middy's httpJsonBodyParser): pass the event on as it came.",
    read: async (maxBytes) => decodeBody(event, maxBytes),
  }
}

/**
 * Prefers the list of all values of a header, so that a header sent twice is not taken for one sent once. An empty list
 * is ignored.
 */
function mergeHeaders({ multiValueHeaders, headers }: LambdaEventLike): HeadersLike {
  const lists = Object.entries(multiValueHeaders ?? {}).filter(([, values]) => values?.length)
  const listed = new Set(lists.map(([name]) => name.toLowerCase()))
  const singleHeaders = Object.entries(headers ?? {}).filter(([name]) => !listed.has(name.toLowerCase()))
  return Object.fromEntries<unknown>([...singleHeaders, ...lists]) as HeadersLike
}

function decodeBody({ body, isBase64Encoded }: LambdaEventLike, maxBytes: number): Uint8Array {
  const text = body ?? ''
  // Rejects a large body before decoding: a character is at least one byte, four characters of Base64 are three bytes.
  if (text.length > (isBase64Encoded === true ? Math.ceil(maxBytes / 3) * 4 : maxBytes))
    throw createTooLargeError(maxBytes)
  const bytes = isBase64Encoded === true ? fromBase64(text) : new TextEncoder().encode(text)
  if (bytes.byteLength > maxBytes) throw createTooLargeError(maxBytes)
  return bytes
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch (cause) {
    throw createUnreadableError(cause)
  }
}
