/** Signing secrets as keys. The key is the UTF-8 of the secret as issued, prefix included, never trimmed. @module */

/**
 * Checks a secret and returns its bytes.
 * @throws {TypeError} When it is no string, empty, blank or padded: an unset variable must not become a key that
 * everybody knows. The message does not hold the secret.
 */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  if (secret && secret === secret.trim()) return new TextEncoder().encode(secret)
  throw new TypeError('no secret')
}
