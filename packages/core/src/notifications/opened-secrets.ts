/** Caches opened signing secrets: opening one costs more than signing. @module */
import type { SealedSecret } from '../ports/store-integrations.js'

/** Opens a signing secret; throws when it cannot be read. */
export type OpenSecret = (sealed: SealedSecret, integrationAddress: string) => string

/** Most opened secrets in the cache; the oldest is evicted first. */
export const maxOpenedSecrets = 1_024

/**
 * Caches the results of `open`. The integration is part of the key: its sealed text copied to another row must not
 * open. Errors are not cached.
 */
export function cacheOpenedSecrets(open: OpenSecret, maxSecrets = maxOpenedSecrets): OpenSecret {
  const cache = new Map<string, string>()
  return (secret, integrationAddress) => {
    const key = `${integrationAddress} ${secret.keyVersion} ${secret.sealed}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const opened = open(secret, integrationAddress)
    const oldest = cache.size >= maxSecrets ? cache.keys().next().value : undefined
    if (oldest !== undefined) cache.delete(oldest)
    cache.set(key, opened)
    return opened
  }
}
