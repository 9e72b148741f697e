/** A minimal verifier: createHmac, a strict parse, a two-sided window, timingSafeEqual. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'

const digits = /^\d{1,12}$/
const hex = /^[0-9a-f]{64}$/

/** Whether the header's code fits the body and is recent. */
export function floorVerify(body: Uint8Array, header: string, secret: string): boolean {
  let timestamp: string | undefined
  const codes: string[] = []
  for (const field of header.split(',')) {
    const equals = field.indexOf('=')
    const name = field.slice(0, equals)
    const value = field.slice(equals + 1)
    if (name === 't') {
      if (timestamp !== undefined || !digits.test(value)) return false
      timestamp = value
    } else if (name === 'v1') {
      if (!hex.test(value)) return false
      codes.push(value)
    }
  }
  if (timestamp === undefined || Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > 300) return false
  const code = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
  return codes.some((claimed) => timingSafeEqual(code, Buffer.from(claimed, 'hex')))
}

/** The same on Web Crypto, with an imported key and a well-formed header. */
export async function webFloorVerify(
  body: Uint8Array,
  header: string,
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>,
): Promise<boolean> {
  const [, timestamp = '', code = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > 300) return false
  return crypto.subtle.verify(
    'HMAC',
    key,
    Buffer.from(code, 'hex'),
    Buffer.concat([Buffer.from(`${timestamp}.`), body]),
  )
}
