/** Waits for an answer up to a time limit. @module */

/** Resolves the result of `ask`; null when it throws, rejects, or takes longer than `timeoutMs`. */
export async function answerWithin<T>(ask: () => Promise<T>, timeoutMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs)
  })
  const answered = Promise.resolve()
    .then(ask)
    .catch(() => null)
  try {
    return await Promise.race([answered, late])
  } finally {
    clearTimeout(timer)
  }
}
