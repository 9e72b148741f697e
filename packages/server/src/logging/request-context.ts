/** Carries the id of a request to the log lines of code that knows no request. @module */
import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<string>()
let inFlight = 0

/**
 * Runs `work`; its log lines get this request id, also after a wait. Before Node 24 it slows every promise of the
 * process by some microseconds. So the store is disabled when no such request is in flight.
 */
export async function withRequestId<T>(requestId: string, work: () => Promise<T>): Promise<T> {
  inFlight += 1
  try {
    return await requests.run(requestId, work)
  } finally {
    inFlight -= 1
    if (inFlight === 0) requests.disable()
  }
}

/** The id of the request that is served now, or undefined outside of one. */
export function currentRequestId(): string | undefined {
  return requests.getStore()
}
