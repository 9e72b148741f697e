/** Prepared secrets, kept: preparing one costs as much as hashing a small body. @module */
import { signingKey } from '#hmac'
import type { SigningKey } from '../signing-key.js'

/** How many keys are kept; then it starts anew. */
const keyringSize = 256
const kept = /* @__PURE__ */ new Map<string, SigningKey>()

/** The keys of one secret or several. @throws {TypeError} When there is none, or one is unusable. */
export function keysOf(secrets: string | readonly string[]): readonly SigningKey[] {
  if (typeof secrets === 'string') return [keyOf(secrets)]
  if (!secrets?.length) throw new TypeError('secrets is missing or empty; is its variable set?')
  return secrets.map(keyOf)
}

function keyOf(secret: string): SigningKey {
  const known = kept.get(secret)
  if (known) return known
  const key = prepared(secret)
  if (kept.size >= keyringSize) kept.clear()
  kept.set(secret, key)
  return key
}

function prepared(secret: string): SigningKey {
  try {
    return signingKey(secret)
  } catch {
    throw new TypeError('A signing secret is empty, blank or padded with white space; is its variable set?')
  }
}
