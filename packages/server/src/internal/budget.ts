/** One time budget over every wait of an exchange. @module */

/** A running budget. */
export interface Budget {
  /** Aborts when the time is up or the caller's signal aborts. */
  readonly signal: AbortSignal
  /** Rejects at the same moment, for waits that take no signal. */
  readonly over: Promise<never>
  /** Frees the timer and the listener. */
  end(): void
}

/** The time is up. */
export class BudgetSpentError extends Error {
  override readonly name = 'BudgetSpentError'
  readonly code = 'ERR_BUDGET_SPENT'
}

/** Starts a budget of `ms` milliseconds. */
export function startBudget(ms: number, outer?: AbortSignal): Budget {
  const controller = new AbortController()
  const over = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  over.catch(() => undefined)
  const abort = () => controller.abort(outer?.reason)
  const timer = setTimeout(() => controller.abort(new BudgetSpentError(`The budget of ${ms} ms is spent.`)), ms)
  if (outer?.aborted === true) abort()
  else outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    over,
    end() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}
