/** What a runtime must offer: `#hmac` in package.json picks the Node or the Web Crypto file. @module */

import type { SigningKey } from '../signing-key.js'

/** HMAC-SHA256 over `<timestamp>.<body>`, where `timestamp` is `t` in decimal digits. INTERFACE 6, rule 1. */
export interface Hmac {
  /** Makes a secret ready. @throws {TypeError} When it is no text, blank, or has white space around it. */
  signingKey(secret: string): SigningKey
  /**
   * Index of the first key whose code is among `codes`, or -1. One hash per key; every comparison takes a time that does not depend on
   * what is compared. `codes` have 64 lowercase hex digits. The body is read before the call returns: what becomes of it afterwards does
   * not count.
   */
  match(
    keys: readonly SigningKey[],
    timestamp: number,
    body: Uint8Array,
    codes: readonly string[],
  ): number | Promise<number>
}
