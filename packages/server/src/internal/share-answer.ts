/** One computation for all who ask at about the same time. @module */

/** How long an answer that anybody may ask for is given again, in milliseconds. */
export const sharedMs = 1_000

/**
 * Makes a computation cheap for anybody to ask for: one runs at a time, who asks meanwhile waits for that one, and its
 * answer is given until it is `forMs` old. A failure is given to those who waited, and not kept.
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
