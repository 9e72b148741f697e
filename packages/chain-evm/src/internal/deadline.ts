/** One time limit over the whole of a request, its body included, joined with the caller's own signal. @module */
import type { Clock } from '@payment-integration/core/ports'

/** The request took longer than it may. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  readonly timeoutMs: number
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/**
 * Runs `work` for at most `timeoutMs` milliseconds of `clock`. Its signal aborts on time-out and when `caller` aborts.
 * The call rejects at that moment even when `work` does not listen.
 * @throws {@link DeadlineError} On time-out; the caller's reason when the caller aborted.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted()
  const controller = new AbortController()
  const done = new AbortController()
  const { signal } = controller
  const relay = () => controller.abort(caller?.reason)
  caller?.addEventListener('abort', relay, { once: true })
  const expire = async () => {
    await clock.sleep(timeoutMs, done.signal)
    if (!done.signal.aborted) controller.abort(new DeadlineError(timeoutMs))
  }
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    return await Promise.race([work(signal), aborted, expire().then(() => aborted)])
  } finally {
    done.abort()
    caller?.removeEventListener('abort', relay)
  }
}
