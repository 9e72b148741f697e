/** Caches prepared secrets: preparing one costs as much as hashing a small body. @module */
import { signingKey } from '#hmac'
import type { SigningKey } from '../signing-key.js'

/** The most keys to cache; a full cache is cleared. */
const maxCachedKeys = 256
const cache = /* @__PURE__ */ new Map<string, SigningKey>()

/** The keys of one secret or several. @throws {TypeError} When there is none, or one is unusable. */
export function prepareKeys(secrets: string | readonly string[]): readonly SigningKey[] {
  if (typeof secrets === 'string') return [getKey(secrets)]
  if (!secrets?.length) throw new TypeError('secrets is missing or empty; is its variable set?')
  return secrets.map(getKey)
}

function getKey(secret: string): SigningKey {
  const cached = cache.get(secret)
  if (cached) return cached
  const key = signingKey(secret)
  if (cache.size >= maxCachedKeys) cache.clear()
  cache.set(secret, key)
  return key
}
