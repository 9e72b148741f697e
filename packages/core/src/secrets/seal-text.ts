/**
 * Seals text with AES-256-GCM, bound to its purpose and place. Source: docs/decisions/secrets.md.
 * @module
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Random } from '../ports/world.js'
import type { KeyPurpose, MasterKey } from './master-key.js'

const nonceBytes = 12
const tagBytes = 16

/** The purpose and the place of sealed text. With another purpose or place it does not open. */
export interface SealedPlace {
  readonly purpose: KeyPurpose
  /** Table, column and row; never changes. */
  readonly boundTo: string
}

/** Seals text, or bytes, with the current master key. */
export function sealText(
  keys: MasterKey,
  random: Pick<Random, 'bytes'>,
  { purpose, boundTo }: SealedPlace,
  text: string | Uint8Array,
): SealedSecret {
  const { version } = keys.current
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keys.current.derive(purpose), nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(`${boundTo}|${version}`, 'utf8'))
  const sealed = Buffer.concat([nonce, cipher.update(Buffer.from(text)), cipher.final(), cipher.getAuthTag()])
  return { keyVersion: version, sealed: sealed.toString('base64url') }
}

/** Opens text that was sealed for that place. Null: its key is not configured, or it was altered or moved. */
export function openSealed(
  keys: MasterKey,
  { purpose, boundTo }: SealedPlace,
  { keyVersion, sealed }: SealedSecret,
): Uint8Array | null {
  const key = keys.find(keyVersion)
  const bytes = Buffer.from(sealed, 'base64url')
  if (key === undefined || bytes.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', key.derive(purpose), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(`${boundTo}|${keyVersion}`, 'utf8'))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch {
    return null
  }
}
