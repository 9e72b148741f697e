/** The primitive where there is `node:crypto`: Node, Bun, Deno. Hashes without a hand-off to another thread. @module */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Hmac, HmacKey } from './hmac.js'

export const hmac: Hmac = {
  prepare: (secret) => createSecretKey(secret) as unknown as HmacKey,
  digest: (key, timestamp, body) =>
    createHmac('sha256', key as unknown as KeyObject)
      .update(`${timestamp}.`)
      .update(body)
      .digest(),
  // A string as the key spares the key object, which costs more than the hash.
  sign: (secret, timestamp, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
}
