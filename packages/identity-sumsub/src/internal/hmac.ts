/** HMAC by Web Crypto, available in every runtime, and the check of its secrets. @module */

/**
 * Checks a configured credential.
 * @throws TypeError When it is not a string, is blank, or has white space around it. The message does not repeat it.
 */
export function checkCredential(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} is missing or blank; is its environment variable set?`)
  if (value.trim() !== value) throw new TypeError(`${name} has white space around it; trim it where it is read.`)
  return value
}

/** Digests of the provider's signatures. */
export type Digest = 'SHA-256' | 'SHA-512'

const encoder = new TextEncoder()

/** Lowercase hex of the HMAC over the text followed by the bytes. */
export async function hmacHex(
  digest: Digest,
  secret: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<string> {
  const key = await importKey(digest, secret, 'sign')
  const signature = await crypto.subtle.sign('HMAC', key, concat(parts))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Whether hex is the HMAC over bytes, under one secret. Compares in constant time. */
type HmacCheck = (digest: Digest, hex: string, bytes: Uint8Array) => Promise<boolean>

/** Makes the check of a secret. It imports keys once, because anyone can trigger checks. */
export function createHmacCheck(secret: string): HmacCheck {
  const keys = new Map<Digest, ReturnType<typeof importKey>>()
  function keyOf(digest: Digest) {
    const key = keys.get(digest) ?? importKey(digest, secret, 'verify')
    keys.set(digest, key)
    return key
  }
  return async (digest, hex, bytes) => {
    const size = digest === 'SHA-256' ? 64 : 128
    if (hex.length !== size || !/^[0-9a-f]+$/.test(hex)) return false
    const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    return crypto.subtle.verify('HMAC', await keyOf(digest), signature, concat([bytes]))
  }
}

function importKey(hash: Digest, secret: string, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash }, false, [use])
}

function concat(parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const bytes = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part))
  const all = new Uint8Array(bytes.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of bytes) {
    all.set(part, at)
    at += part.length
  }
  return all
}
