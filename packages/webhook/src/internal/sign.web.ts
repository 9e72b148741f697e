/** Signing where there is Web Crypto. @module */
import { digest, signedBytes, signingKey } from './hmac.web.js'

export async function sign(secret: string, timestamp: number, body: Uint8Array): Promise<string> {
  const code = await digest(signingKey(secret), signedBytes(timestamp, body))
  return Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
