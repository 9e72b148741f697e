/** The cryptography that a runtime must offer. `#hmac` in package.json picks Node or Web Crypto. @module */

import type { SigningKey } from '../signing-key.js'

/** HMAC-SHA256 over `<timestamp>.<body>`, with `t` in decimal digits. Source: docs/interface.md 6, rule 1. */
export interface Hmac {
  /** Makes a secret ready. @throws {TypeError} When it is no text, blank, or has white space around it. */
  signingKey(secret: string): SigningKey
  /**
   * Index of the first key whose code is among `codes`, or -1. Hashes once per key and compares in constant time.
   * `codes` have 64 lowercase hex digits. The body is read before the call returns, so later writes do not count.
   */
  match(
    keys: readonly SigningKey[],
    timestamp: number,
    body: Uint8Array,
    codes: readonly string[],
  ): number | Promise<number>
}
