/** Limits the time of an exchange with another machine. @module */

/** A running limit. */
export interface TimeLimit {
  /** Aborts when the time is up (`TimeoutError`), or with the caller's signal and its reason. */
  readonly signal: AbortSignal
  /** Rejects at the same moment, for waits that take no signal. */
  readonly over: Promise<never>
  /** Frees the timer and the listener. */
  end(): void
}

/**
 * Starts a limit of `ms` milliseconds over every wait that takes its signal. `AbortSignal.any` around
 * `AbortSignal.timeout` is no such limit: Node 20 can collect that signal before it fires.
 */
export function startTimeLimit(ms: number, outer?: AbortSignal): TimeLimit {
  const controller = new AbortController()
  const { signal } = controller
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  over.catch(() => undefined)
  const abort = () => controller.abort(outer?.reason)
  const timer = setTimeout(() => controller.abort(new DOMException(`No answer within ${ms} ms.`, 'TimeoutError')), ms)
  if (outer?.aborted === true) abort()
  else outer?.addEventListener('abort', abort, { once: true })
  return {
    signal,
    over,
    end() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}
