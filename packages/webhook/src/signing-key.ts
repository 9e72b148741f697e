/**
 * Signing secrets as keys, and the cryptography that a runtime must offer. `#hmac` in package.json picks Node or
 * Web Crypto. The key is the UTF-8 of the secret as issued, prefix included, never trimmed.
 * @module
 */

declare const brand: unique symbol
/** A signing secret that `signingKey` made ready for many deliveries. Its form depends on the runtime. */
export interface SigningKey {
  readonly [brand]: never
}

/** HMAC-SHA256 over `<timestamp>.<body>`, with the timestamp in decimal digits. Source: docs/interface.md 6, rule 1. */
export interface Hmac {
  /** Makes a secret ready. @throws {TypeError} When it is no text, blank, or has white space around it. */
  signingKey(secret: string): SigningKey
  /**
   * Index of the first key whose HMAC is among `codes`, or -1. Hashes once per key and compares in constant time.
   * `codes` have 64 lowercase hex digits. The body is read before the call returns, so later writes do not count.
   */
  findMatchingKey(
    keys: readonly SigningKey[],
    timestamp: number,
    body: Uint8Array,
    codes: readonly string[],
  ): number | Promise<number>
}

/**
 * Checks a secret and returns its bytes.
 * @throws {TypeError} When it is no string, empty, blank or padded: an unset variable must not become a key that
 * everybody knows. The message does not hold the secret.
 */
export function encodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  if (secret && secret === secret.trim?.()) return new TextEncoder().encode(secret)
  throw new TypeError('Secret is empty or padded; set it trimmed.')
}
