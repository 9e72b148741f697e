/** Signing secrets as keys. The key is the UTF-8 of the secret as issued, prefix included, never trimmed. @module */

/**
 * Checks a secret and gives its bytes.
 * @throws {TypeError} When it is no string, empty, blank, or has white space around it: an unset variable must not become a key that
 * everybody knows. The message does not hold it.
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  if (secret && secret === secret.trim()) return new TextEncoder().encode(secret)
  throw new TypeError('no secret')
}
