/** What networks and services do on a bad day, on demand. @module */
import { answer } from './answers.js'

/** A fault of the next requests. */
export interface TestFault {
  /** What is answered instead, or `network`: the connection breaks. */
  readonly status: number | 'network'
  /** How many requests it meets. @default 1 */
  readonly times?: number | undefined
  /** Seconds for `Retry-After`. @default none */
  readonly retryAfter?: number | undefined
  /** What is answered as body. @default `{"error":"Service temporarily unavailable"}` */
  readonly body?: object | undefined
  /** Whether the service does its work all the same, so that only the answer is lost. @default false */
  readonly afterEffect?: boolean | undefined
}

/** Faults that wait for requests. */
export interface FaultQueue {
  /** @throws {TypeError} When it has no status. */
  add(fault: TestFault): void
  /** The fault of a request, which is used up by it. */
  take(): TestFault | undefined
}

/** Makes an empty queue. */
export function createFaultQueue(): FaultQueue {
  const waiting: TestFault[] = []
  return {
    add(fault) {
      const { status } = Object(fault) as Partial<TestFault>
      // The statuses that a Response may have.
      if (status !== 'network' && !(Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599))
        throw new TypeError("failNext must get { status }, from 200 to 599 or 'network'.")
      for (let time = 0; time < (fault.times ?? 1); time += 1) waiting.push(fault)
    },
    take: () => waiting.shift(),
  }
}

/** The answer of a fault. */
export function faultAnswer({ status, retryAfter, body }: TestFault): Response {
  if (status === 'network') return Response.error()
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  return answer(body ?? { error: 'Service temporarily unavailable' }, status, headers)
}
