/** Bounds work by time, and waits. @module */
import { TimeoutError } from '../errors.js'

/**
 * Runs one attempt. Its signal is aborted with the outer one and after `timeoutMs`; then this rejects at once, even if
 * the caller's own `fetch` ignores signals.
 * @throws {@link TimeoutError} Of the attempt.
 */
export async function within<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (cut: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted()
  const cut = new AbortController()
  const abort = () => cut.abort(outer.reason)
  outer.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => cut.abort(new TimeoutError('try', timeoutMs)), timeoutMs)
  try {
    return await Promise.race([work(cut.signal), rejection(cut.signal)])
  } catch (error) {
    // A fetch that is cut off may reject with anything.
    throw cut.signal.aborted ? cut.signal.reason : error
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', abort)
  }
}

/** Waits so many milliseconds. @throws The reason of the signal, when it is aborted first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const ended = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await Promise.race([ended, rejection(signal)])
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects with the reason of the signal. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
