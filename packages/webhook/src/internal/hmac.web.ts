/** Verifies and signs where there is Web Crypto: browsers, workers, edge runtimes. @module */
import { encodeSecret, type SigningKey } from '../signing-key.js'

/** Imports the key at its first use: workers allow no such work while a module loads. */
type WebKey = () => ReturnType<typeof crypto.subtle.importKey>

export function signingKey(secret: string): SigningKey {
  const bytes = encodeSecret(secret)
  let key: ReturnType<WebKey>
  const keyOnce: WebKey = () =>
    (key ??= crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']))
  return keyOnce as unknown as SigningKey
}

export async function findMatchingKey(
  keys: readonly SigningKey[],
  timestamp: number,
  body: Uint8Array,
  codes: readonly string[],
): Promise<number> {
  // Copies the bytes once, before the first await: every key is tried on the same bytes.
  const signed = joinSignedBytes(timestamp, body)
  for (const [index, key] of keys.entries()) {
    const code = await digest(key, signed)
    if (codes.some((received) => equalInConstantTime(received, code))) return index
  }
  return -1
}

/** Compares a received code of 64 hex digits with one of 32 bytes, without an early exit. */
export function equalInConstantTime(received: string, code: Uint8Array): boolean {
  let difference = 0
  for (const [index, byte] of code.entries())
    difference |= byte ^ Number(`0x${received.slice(2 * index, 2 * index + 2)}`)
  return !difference
}

/** `t`, a dot and the body in one buffer, as Web Crypto needs it. A copy, because Web Crypto rejects shared memory. */
export function joinSignedBytes(timestamp: number, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(`${timestamp}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  return signed
}

/** The 32 bytes of the code. */
export async function digest(key: SigningKey, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await (key as unknown as WebKey)(), signed))
}

export async function sign(secret: string, timestamp: number, body: Uint8Array): Promise<string> {
  const code = await digest(signingKey(secret), joinSignedBytes(timestamp, body))
  return Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
