/** Parses master keys and derives keys from them. Source: docs/decisions/secrets.md. @module */
import { createHash, hkdfSync } from 'node:crypto'

/** Purposes that never share a key. */
export type KeyPurpose =
  | 'api-secret'
  | 'legacy-key'
  | 'signing-secret'
  | 'cursor'
  | 'audit'
  | 'audit-url'
  | 'email'
  | 'email-hash'
  | 'data-key'
  | 'csrf'
  | 'move-file'
  | 'archive-file'
  | 'sign-in'

/** One key with its version, a fingerprint: stored rows name the key that they need. */
export interface KeyVersion {
  readonly version: number
  /** The 32-byte key of a purpose. */
  derive(purpose: KeyPurpose): Uint8Array
}

/** The current key and the ones that it replaced. New rows use the current key; old rows need their own. */
export interface MasterKey {
  readonly current: KeyVersion
  readonly all: readonly KeyVersion[]
  /** The key of a stored row, or undefined when it is not configured. */
  find(version: number): KeyVersion | undefined
}

/**
 * Parses master keys: 32 random bytes each, as base64url or 64 hex digits, separated by commas, newest first.
 * @throws RangeError When one is missing, short, or of another form. The message does not contain the key.
 * @example parseMasterKey(randomBytes(32).toString('base64url'))
 */
export function parseMasterKey(text: string): MasterKey {
  const all = text.split(',').map((part) => keyVersion(parseKey(part.trim())))
  const [current] = all
  if (current === undefined) throw new RangeError('A master key is needed.')
  if (new Set(all.map((key) => key.version)).size !== all.length)
    throw new RangeError('The same master key is given twice.')
  return { current, all, find: (version) => all.find((key) => key.version === version) }
}

function parseKey(text: string): Uint8Array {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 32 || bytes.toString('base64url') !== text.replace(/=$/, ''))
    throw new RangeError(
      `A master key is 32 random bytes as base64url (43 characters) or 64 hex digits; this one has ${text.length} characters.`,
    )
  return bytes
}

function keyVersion(key: Uint8Array): KeyVersion {
  if (new Set(key).size < 8) throw new RangeError('A master key must be random; this one repeats a few bytes.')
  const derived = new Map<KeyPurpose, Uint8Array>()
  return {
    version: createHash('sha256').update('key-version').update(key).digest().readUInt32BE(0),
    derive(purpose) {
      let bytes = derived.get(purpose)
      if (bytes === undefined) {
        bytes = new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), `payment-integration/${purpose}`, 32))
        derived.set(purpose, bytes)
      }
      return bytes
    },
  }
}
