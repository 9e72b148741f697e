/** Faults for tests: failures of networks, gateways and processes. @module */
import type { ServerResponse } from 'node:http'
import { type ErrorCode, Refusal, refusalBody } from './errors.js'

/** Operations of the provider. */
export type ProviderOperation =
  | 'mint'
  | 'reuse'
  | 'preview'
  | 'import'
  | 'find'
  | 'applicant'
  | 'status'
  | 'testCompleted'

/**
 * Replaces the answer. A number is an HTTP status; `errorCode` is one of the provider's errors.
 */
export type ProviderFaultAnswer =
  | number
  | { readonly errorCode: ErrorCode }
  /** The connection closes without a byte. */
  | 'lost'
  /** No answer arrives until the provider closes. */
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

/** Queued faults. */
export interface Faults {
  add(fault: ProviderFault): void
  /** Takes the first fault for an operation. */
  take(operation: ProviderOperation): ProviderFault | null
  clear(): void
}

/** Makes an empty queue: first in, first out. */
export function createFaults(): Faults {
  let waiting: { readonly fault: ProviderFault; left: number }[] = []
  return {
    add: (fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    take(operation) {
      const found = waiting.find(({ fault }) => fault.on === operation)
      if (found === undefined) return null
      found.left -= 1
      waiting = waiting.filter(({ left }) => left > 0)
      return found.fault
    },
    clear: () => {
      waiting = []
    },
  }
}

/** Gives the faulty answer. `json` is what would have been answered. */
export function answerFaultily(
  response: ServerResponse,
  { answer }: ProviderFault,
  json: string,
  correlationId: string,
): void {
  const type = { 'Content-Type': 'application/json' }
  if (typeof answer === 'object' && 'redirectTo' in answer) {
    response.writeHead(307, { Location: answer.redirectTo }).end()
    return
  }
  if (typeof answer === 'number' || typeof answer === 'object') {
    const refusal =
      typeof answer === 'number' ? new Refusal(answer, 'Fault on request') : new Refusal(400, answer.errorCode)
    response.writeHead(refusal.status, type).end(JSON.stringify(refusalBody(refusal, correlationId)))
    return
  }
  const bytes = Buffer.from(json)
  const half = bytes.subarray(0, bytes.length >> 1)
  switch (answer) {
    case 'lost':
      response.socket?.destroy()
      return
    case 'hang':
      return
    case 'cut-json':
      response.writeHead(200, type).end(half)
      return
    case 'cut-connection':
      response.writeHead(200, { ...type, 'Content-Length': bytes.length }).write(half, () => response.socket?.destroy())
      return
    case 'html':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><h1>Service temporarily busy</h1>')
      return
    case 'empty':
      response.writeHead(200, type).end()
      return
    case 'wrong-content-type':
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end(json)
      return
    case 'huge':
      response.writeHead(200, type)
      response.write(bytes)
      response.end(Buffer.alloc(8 * 1_048_576, ' '))
      return
    case 'drip':
      drip(response, bytes)
  }
}

function drip(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  let next = 0
  const timer = setInterval(() => {
    if (next < bytes.length) response.write(bytes.subarray(next, ++next))
    else response.end()
  }, 100)
  response.on('close', () => clearInterval(timer))
}
