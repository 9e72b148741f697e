/** Questions that end when the service stops. @module */
import type { Answer, IdentityProvider } from '../ports/identity-provider.js'

/** What is answered in place of the provider once the service stops. */
const stopped = { kind: 'unavailable', reason: 'ERR_STOPPING' } as const

/**
 * The provider for questions that nobody waits for: once the signal aborts, each ends at once as unavailable, and is asked again after the next start.
 * Redemptions are not touched: their end matters.
 * @param signal - The signal of the loop, once it runs.
 */
export function untilStopped(provider: IdentityProvider, signal: () => AbortSignal | undefined): IdentityProvider {
  async function within<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const current = signal()
    if (current === undefined) return ask()
    if (current.aborted) return stopped
    let stop: () => void = () => undefined
    const aborted = new Promise<Answer<T>>((resolve) => {
      stop = () => resolve(stopped)
      current.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([ask(), aborted])
    } finally {
      current.removeEventListener('abort', stop)
    }
  }
  return {
    ...provider,
    find: (externalUserId) => within(() => provider.find(externalUserId)),
    review: (applicantId) => within(() => provider.review(applicantId)),
  }
}
