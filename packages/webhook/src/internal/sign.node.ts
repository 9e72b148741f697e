/** Signing where there is `node:crypto`. @module */
import { createHmac } from 'node:crypto'
import { secretBytes } from '../signing-key.js'

export function sign(secret: string, timestamp: number, body: Uint8Array): string {
  return createHmac('sha256', secretBytes(secret)).update(`${timestamp}.`).update(body).digest('hex')
}
