/** Signing secrets as keys. The key is the UTF-8 of the secret as issued, prefix included, never trimmed. @module */
import type { Hmac, HmacKey } from './hmac.js'

/**
 * Checks a secret and gives its bytes.
 * @throws {TypeError} When it is no string, empty, blank, or has white space around it. The message does not hold it.
 */
export function secretBytes(secret: unknown): Uint8Array {
  if (typeof secret !== 'string') throw new TypeError(`A signing secret is ${kindOf(secret)}; pass a string.`)
  const trimmed = secret.trim()
  if (trimmed === '') throw new TypeError('A signing secret is empty or blank; is its environment variable set?')
  if (trimmed !== secret)
    throw new TypeError(
      'A signing secret has white space around it; trim it where it is read (a file may end in a newline).',
    )
  return new TextEncoder().encode(secret)
}

/**
 * Checks one secret or a list of them.
 * @throws {TypeError} When the list is empty, or as {@link secretBytes}.
 */
export function secretList(secrets: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? [...secrets] : [secrets]
  if (list.length === 0) throw new TypeError('The list of signing secrets is empty; pass at least one.')
  for (const secret of list) secretBytes(secret)
  return list as readonly string[]
}

/** How many prepared keys a keyring holds; the oldest goes first. */
const keyringSize = 256

/** Prepares keys and keeps them, because on Web Crypto preparing costs as much as hashing. */
export function createKeyring(hmac: Hmac): (secrets: readonly string[]) => Promise<readonly HmacKey[]> {
  const kept = new Map<string, HmacKey | Promise<HmacKey>>()
  const keyOf = (secret: string) => {
    const known = kept.get(secret)
    if (known !== undefined) return known
    const key = hmac.prepare(secretBytes(secret))
    const oldest = kept.size >= keyringSize ? kept.keys().next().value : undefined
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(secret, key)
    return key
  }
  return (secrets) => Promise.all(secrets.map(keyOf))
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}
