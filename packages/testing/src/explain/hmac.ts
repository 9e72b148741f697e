/** HMAC-SHA256 for many candidates: keys are imported once. Source: docs/interface.md 6, signature rule 1. @module */

const algorithm = { name: 'HMAC', hash: 'SHA-256' } as const
const encoder = new TextEncoder()

/** Computes the 64 hex digits of `t`, a dot and the body under one key. */
export type Signer = (t: string, body: Uint8Array) => Promise<string>

/** Creates the signer of a key that is not empty. The key is imported at its first use. */
export function createSigner(key: Uint8Array<ArrayBuffer>): Signer {
  let imported: ReturnType<typeof crypto.subtle.importKey> | undefined
  return async (t, body) => {
    imported ??= crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
    const code = await crypto.subtle.sign('HMAC', await imported, signedBytes(t, body))
    return Array.from(new Uint8Array(code), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

/** The bytes that are signed: `t`, a dot and the body. */
export function signedBytes(t: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${t}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  return signed
}
