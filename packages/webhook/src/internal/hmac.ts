/** What a runtime must offer: `#hmac` in package.json picks the Node or the Web Crypto file. @module */

declare const keyBrand: unique symbol
/** A secret made ready for hashing; what it is depends on the runtime. */
export interface HmacKey {
  readonly [keyBrand]: never
}

/** HMAC-SHA256 over `<timestamp>.<body>`. Source: INTERFACE 6, signature rule 1. */
export interface Hmac {
  /** Makes a secret ready, once for many signatures. */
  prepare(secret: Uint8Array): HmacKey | Promise<HmacKey>
  /** The 32 bytes of the code. `timestamp` is the text of `t`, so that what is hashed is what was sent. */
  digest(key: HmacKey, timestamp: string, body: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** The code as 64 lowercase hex digits, straight from the text of the secret: where a runtime has a faster way than the two above. */
  sign?(secret: string, timestamp: string, body: Uint8Array): string
  /** Compares two codes of 32 bytes in a time that does not depend on their content. */
  equal(a: Uint8Array, b: Uint8Array): boolean
}
