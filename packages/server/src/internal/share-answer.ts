/** Shares one computation among concurrent callers. @module */

/** How long a public answer is cached, in milliseconds. */
export const sharedMs = 1_000

/**
 * Runs one computation at a time. Callers that arrive meanwhile wait for it, and its answer is cached for `forMs`. A
 * failure rejects for the waiting callers and is not cached.
 * @param now - A clock that never goes back, in milliseconds.
 */
export function shareAnswer<T>(
  compute: () => Promise<T>,
  { forMs, now }: { readonly forMs: number; readonly now: () => number },
): () => Promise<T> {
  let answer: Promise<T> | undefined
  let until = Number.POSITIVE_INFINITY
  return () => {
    if (answer !== undefined && now() < until) return answer
    until = Number.POSITIVE_INFINITY
    answer = compute().then(
      (value) => {
        until = now() + forMs
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
