/** Caches an answer for many callers, and waits for an answer up to a limit. @module */
import { startTimeLimit } from '@payment-integration/contract/internal-io'
import type { Clock } from '@payment-integration/core/ports'

/** Resolves with the result of `compute`; null when it throws, rejects, or takes longer than `timeoutMs`. */
export async function answerWithin<T>(compute: () => Promise<T>, timeoutMs: number): Promise<T | null> {
  const limit = startTimeLimit(timeoutMs)
  try {
    return await Promise.race([compute(), limit.whenAborted])
  } catch {
    return null
  } finally {
    limit.end()
  }
}

/**
 * Runs one computation at a time. Callers that arrive meanwhile wait for it, and its answer is cached. A failure
 * rejects for the waiting callers and is not cached.
 * @param clock - Monotonic, in milliseconds.
 * @param ttlMs - How long an answer is cached, in milliseconds. @default 1000
 */
export function cacheAnswer<T>(compute: () => Promise<T>, clock: Pick<Clock, 'now'>, ttlMs = 1_000): () => Promise<T> {
  let answer: Promise<T> | undefined
  let expiresAt = Number.POSITIVE_INFINITY
  return () => {
    if (answer !== undefined && clock.now() < expiresAt) return answer
    expiresAt = Number.POSITIVE_INFINITY
    answer = (async () => compute())().then(
      (value) => {
        expiresAt = clock.now() + ttlMs
        return value
      },
      (error: unknown) => {
        answer = undefined
        throw error
      },
    )
    return answer
  }
}
