/** Faults for tests: failures of networks, gateways and processes. @module */
import { setTimeout } from 'node:timers/promises'
import { type ErrorCode, ProviderRejection, toRejectionBody } from './authenticate.js'

/** Time between two bytes of a dripping answer, in milliseconds. */
const dripMs = 100

export type ProviderOperation = 'mint' | 'reuse' | 'import' | 'find' | 'status' | 'testCompleted'

/**
 * Replaces the answer. A number is an HTTP status; `errorCode` is one of the provider's errors.
 */
export type ProviderFaultAnswer =
  | number
  | { readonly errorCode: ErrorCode }
  /** The connection closes without a byte; `fetch` rejects. */
  | 'lost'
  /** No answer arrives until the provider closes; `fetch` rejects once its signal aborts. */
  | 'hang'
  /** Half of the answer, with the matching Content-Length. */
  | 'cut-json'
  /** Half of the answer, then the connection closes. */
  | 'cut-connection'
  /** A gateway's page, with status 200. */
  | 'html'
  | 'empty'
  /** The answer as text/plain. */
  | 'wrong-content-type'
  /** 307 to the given address. */
  | { readonly redirectTo: string }
  /** The answer, followed by 8 MiB of blanks. */
  | 'huge'
  /** The answer, one byte every 100 ms. */
  | 'drip'

/** A fault, for the next requests of one kind. */
export interface ProviderFault {
  readonly on: ProviderOperation
  /** `after`: the provider executes the request first, so a redemption has an unknown outcome for its caller. */
  readonly at: 'before' | 'after'
  readonly answer: ProviderFaultAnswer
  /** Number of requests that fail. @default 1 */
  readonly times?: number | undefined
}

export interface Faults {
  add(fault: ProviderFault): void
  /** Takes the first fault for an operation. */
  take(operation: ProviderOperation): ProviderFault | null
  clear(): void
}

export function createFaults(): Faults {
  let waiting: { readonly fault: ProviderFault; remaining: number }[] = []
  return {
    add: (fault) => void waiting.push({ fault, remaining: fault.times ?? 1 }),
    take(operation) {
      const match = waiting.find(({ fault }) => fault.on === operation)
      if (match === undefined) return null
      match.remaining -= 1
      waiting = waiting.filter(({ remaining }) => remaining > 0)
      return match.fault
    },
    clear: () => {
      waiting = []
    },
  }
}

/**
 * The faulty response. `json` is what would have been answered. The signal of `request` ends a response that hangs.
 * @throws {TypeError} For a lost answer, as `fetch` does; the abort reason for one that hangs.
 */
export async function faultyResponse(
  { answer }: ProviderFault,
  json: string,
  { correlationId, request }: { readonly correlationId: string; readonly request: Request },
): Promise<Response> {
  if (typeof answer === 'object' && 'redirectTo' in answer)
    return new Response(null, { status: 307, headers: { Location: answer.redirectTo } })
  if (typeof answer === 'number' || typeof answer === 'object') {
    const rejected =
      typeof answer === 'number'
        ? new ProviderRejection(answer, 'Fault on request')
        : new ProviderRejection(400, answer.errorCode)
    return jsonResponse(JSON.stringify(toRejectionBody(rejected, correlationId)), rejected.status)
  }
  const bytes = Buffer.from(json)
  const half = bytes.subarray(0, bytes.length >> 1)
  switch (answer) {
    case 'lost':
      throw new TypeError('The identity provider closed the connection without an answer.')
    case 'hang':
      return waitForAbort(request)
    case 'cut-json':
      return jsonResponse(half)
    case 'cut-connection':
      return jsonResponse(cutAfter(half), 200, { 'Content-Length': String(bytes.length) })
    case 'html':
      return jsonResponse('<!doctype html><h1>Service temporarily busy</h1>', 200, { 'Content-Type': 'text/html' })
    case 'empty':
      return jsonResponse('')
    case 'wrong-content-type':
      return jsonResponse(json, 200, { 'Content-Type': 'text/plain' })
    case 'huge':
      return jsonResponse(Buffer.concat([bytes, Buffer.alloc(8 * 1_048_576, ' ')]))
    case 'drip':
      return jsonResponse(drip(bytes, request))
  }
}

/** A response as JSON, unless `headers` replace the type. */
export function jsonResponse(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body, { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** Requests that hang. The signal of a request that nobody holds never aborts, because it follows its source weakly. */
const hangingRequests = new Set<Request>()

/** Rejects once the signal aborts. */
function waitForAbort(request: Request): Promise<never> {
  const { signal } = request
  return new Promise((_, reject) => {
    const end = () => {
      hangingRequests.delete(request)
      reject(signal.reason as Error)
    }
    if (signal.aborted) return end()
    hangingRequests.add(request)
    signal.addEventListener('abort', end, { once: true })
  })
}

function cutAfter(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let isSent = false
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new TypeError('The identity provider closed the connection.'))
      else controller.enqueue(bytes)
      isSent = true
    },
  })
}

function drip(bytes: Uint8Array, request: Request): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    async pull(controller) {
      await setTimeout(dripMs)
      if (request.signal.aborted) controller.error(request.signal.reason)
      else if (next < bytes.length) controller.enqueue(bytes.subarray(next, ++next))
      else controller.close()
    },
  })
}
