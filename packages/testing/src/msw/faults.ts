/** Queues faults for the next requests. @module */

/** A fault of the next requests. */
export interface TestFault {
  /** The status of the answer, or `network`: the connection breaks. */
  readonly status: number | 'network'
  /** Number of requests that fail. @default 1 */
  readonly times?: number | undefined
  /** Seconds for `Retry-After`. @default none */
  readonly retryAfter?: number | undefined
  /** The body of the answer. @default `{"error":"Service temporarily unavailable"}` */
  readonly body?: object | undefined
  /** Whether the service executes the request and only its answer is lost. @default false */
  readonly afterEffect?: boolean | undefined
}

/** Queued faults. */
export interface FaultQueue {
  /** @throws {TypeError} When it has no status. */
  add(fault: TestFault): void
  /** Takes the fault for the next request. */
  take(): TestFault | undefined
}

/** Makes an empty queue. */
export function createFaultQueue(): FaultQueue {
  const waiting: TestFault[] = []
  return {
    add(fault) {
      const { status } = Object(fault) as Partial<TestFault>
      // A Response accepts only these statuses.
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
  return Response.json(body ?? { error: 'Service temporarily unavailable' }, { status, headers })
}
