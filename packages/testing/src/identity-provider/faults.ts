/** Faults that a test asks for: what networks, gateways and crashes do to an answer. @module */
import type { ServerResponse } from 'node:http'
import { type ErrorCode, Refusal, refusalBody } from './errors.js'

/** What the provider can be asked. */
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
 * What the caller gets instead of the answer. A number is an HTTP status; `errorCode` is one of the provider's errors.
 */
export type ProviderFaultAnswer =
  | number
  | { readonly errorCode: ErrorCode }
  /** The connection ends without a byte. */
  | 'lost'
  /** Nothing comes, until the provider closes. */
  | 'hang'
  /** Half of the answer's bytes, declared as the whole. */
  | 'cut-json'
  /** Half of the answer's bytes, and then the connection ends. */
  | 'cut-connection'
  /** A gateway's page, with status 200. */
  | 'html'
  | 'empty'
  /** The answer, named text/plain. */
  | 'wrong-content-type'
  /** 307 to an address of yours. */
  | { readonly redirectTo: string }
  /** The answer, and 8 MiB of blanks after it. */
  | 'huge'
  /** The answer, one byte every 100 ms. */
  | 'drip'

/** A fault, for the next requests of one kind. */
export interface ProviderFault {
  readonly on: ProviderOperation
  /** Whether the request is carried out first: after it, a redemption has happened although nobody hears of it. */
  readonly at: 'before' | 'after'
  readonly answer: ProviderFaultAnswer
  /** How many requests it meets. @default 1 */
  readonly times?: number | undefined
}

/** Faults that wait for their request. */
export interface Faults {
  add(fault: ProviderFault): void
  /** Takes the first fault for an operation. */
  take(operation: ProviderOperation): ProviderFault | null
  clear(): void
}

/** Builds the list: first in, first out. */
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
