/** The primitive where there is Web Crypto: browsers, workers, edge runtimes. @module */
import type { Hmac, HmacKey } from './hmac.js'

type WebKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

export const hmac: Hmac = {
  async prepare(secret) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    return (await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])) as unknown as HmacKey
  },
  async digest(key, timestamp, body) {
    // Web Crypto hashes one buffer; the copy also serves bodies in shared memory, which it would refuse.
    const prefix = new TextEncoder().encode(`${timestamp}.`)
    const signed = new Uint8Array(prefix.length + body.length)
    signed.set(prefix)
    signed.set(body, prefix.length)
    return new Uint8Array(await crypto.subtle.sign('HMAC', key as unknown as WebKey, signed))
  },
  equal(a, b) {
    if (a.length !== b.length) return false
    let difference = 0
    for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0)
    return difference === 0
  },
}
