/** The primitive where there is `node:crypto`: Node, Bun, Deno. Hashes without a hand-off to another thread. @module */
import { hash, timingSafeEqual } from 'node:crypto'
import type { SigningKey } from '../signing-key.js'
import { secretBytes } from './secrets.js'

/**
 * Room for what is hashed inside, with a body of up to 64 KiB: the one-shot hash wants it in one piece, and copying is cheaper than the
 * objects that createHmac makes. It is filled and read within one synchronous call.
 */
const scratch = /* @__PURE__ */ Buffer.alloc(65_632)

/**
 * What an HMAC hashes before the message, inside and outside: the key, filled up with zeros to a block of 64 bytes, under a mask (RFC 2104).
 * 32 bytes more make room for what follows: the inner hash, or `t` with its dot.
 */
type Blocks = readonly [inner: Buffer, outer: Buffer]

export function signingKey(secret: string): SigningKey {
  const bytes = secretBytes(secret)
  const key = bytes.length > 64 ? Buffer.from(hash('sha256', bytes), 'hex') : bytes
  return [0x36, 0x5c].map((mask) =>
    // Beyond the key there is undefined, which ^ takes for 0.
    Buffer.alloc(96).map((_, index) => mask ^ (key[index] as number)),
  ) as unknown as SigningKey
}

export function match(
  keys: readonly SigningKey[],
  timestamp: number,
  body: Uint8Array,
  codes: readonly string[],
): number {
  const room = body.length > 65_536 ? Buffer.alloc(body.length + 96) : scratch
  return (keys as readonly unknown[] as readonly Blocks[]).findIndex(([inner, outer]) => {
    room.set(inner)
    const start = room.write(`${timestamp}.`, 64) + 64
    room.set(body, start)
    outer.write(hash('sha256', room.subarray(0, start + body.length)), 64, 'hex')
    const right = Buffer.from(hash('sha256', outer))
    return codes.some((code) => timingSafeEqual(Buffer.from(code), right))
  })
}
