/**
 * Signs a delivery. Source: docs/interface.md 6. It shares no code with the verifier that it tests.
 * @module
 */

/** The signature of a body: 64 lowercase hex digits of HMAC-SHA256 over `t`, a dot and the bytes. */
export function codeOf(secret: string, t: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const encoder = new TextEncoder()
  const head = encoder.encode(`${t}.`)
  const signed = new Uint8Array(head.byteLength + body.byteLength)
  signed.set(head)
  signed.set(body, head.byteLength)
  return hmacOf(encoder.encode(secret), signed)
}

/** HMAC-SHA256 as 64 lowercase hex digits. */
export async function hmacOf(secret: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  const code = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  return Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
