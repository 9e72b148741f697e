/** Verifies and signs with `node:crypto` (Node, Bun, Deno), without a hand-off to another thread. @module */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { encodeSecret, type SigningKey } from '../signing-key.js'

/**
 * Buffer for the inner hash of a body of up to 64 KiB. The one-shot hash needs its input in one piece, and a copy is
 * cheaper than the objects of `createHmac`. It is filled and hashed within one synchronous call.
 */
const scratch = /* @__PURE__ */ Buffer.alloc(65_632)

/**
 * The blocks that an HMAC hashes before the message (RFC 2104): the key, padded to 64 bytes, under a mask.
 * 32 more bytes have room for the inner hash, or for `t` with its dot.
 */
type Blocks = readonly [inner: Buffer, outer: Buffer]

export function signingKey(secret: string): SigningKey {
  const bytes = encodeSecret(secret)
  const key = bytes.length > 64 ? Buffer.from(hash('sha256', bytes), 'hex') : bytes
  return [0x36, 0x5c].map((mask) =>
    // Beyond the key there is undefined, which ^ takes for 0.
    Buffer.alloc(96).map((_, index) => mask ^ (key[index] as number)),
  ) as unknown as SigningKey
}

export function findMatchingKey(
  keys: readonly SigningKey[],
  timestamp: number,
  body: Uint8Array,
  codes: readonly string[],
): number {
  const buffer = body.length > 65_536 ? Buffer.alloc(body.length + 96) : scratch
  return (keys as readonly unknown[] as readonly Blocks[]).findIndex(([inner, outer]) => {
    buffer.set(inner)
    const start = buffer.write(`${timestamp}.`, 64) + 64
    buffer.set(body, start)
    outer.write(hash('sha256', buffer.subarray(0, start + body.length)), 64, 'hex')
    const expected = Buffer.from(hash('sha256', outer))
    return codes.some((code) => timingSafeEqual(Buffer.from(code), expected))
  })
}

export function sign(secret: string, timestamp: number, body: Uint8Array): string {
  return createHmac('sha256', encodeSecret(secret)).update(`${timestamp}.`).update(body).digest('hex')
}
