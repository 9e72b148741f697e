/** Issues and hashes secrets, and parses master keys. Source: docs/decisions/secrets.md. @module */
import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { RandomSource } from '../ports/runtime.js'

/** A secret encrypted with a key outside the database. */
export interface SealedSecret {
  /** Version of the master key. */
  readonly keyVersion: number
  /** Nonce, ciphertext and tag, base64url. */
  readonly sealed: string
}

/** A keyed hash of an API secret or a legacy API key. */
export interface SecretHash {
  readonly keyVersion: number
  /** HMAC-SHA256 of the secret, 64 lowercase hex digits. */
  readonly hash: string
}

/** One key for each purpose. */
export interface DataKeyStore {
  /** The stored key of a purpose; if there is none, `candidate` is stored first. Two calls at once get the same key. */
  obtain(purpose: string, candidate: SealedSecret): Promise<SealedSecret>
}

export interface DataKeyTransaction {
  list(): Promise<{ readonly purpose: string; readonly key: SealedSecret }[]>
  /** Replaces `before` by the resealed `after`. Resolves to false, without a change, if `before` is not stored. */
  replace(purpose: string, before: SealedSecret, after: SealedSecret): Promise<boolean>
}

/** Rows of one place that one master key sealed or hashed. */
export interface SealingKeyUse {
  /** Table and secret, such as `integrations.signing_secret`. */
  readonly place: string
  readonly keyVersion: number
  readonly rows: number
}

/** Issues a password of HTTP Basic (`api`), a key of the notification signature (`whsec`), or a legacy API key. */
export function issueSecret(kind: 'api' | 'whsec' | 'legacy', random: Pick<RandomSource, 'bytes'>): string {
  return `pi_${kind}_${Buffer.from(random.bytes(32)).toString('base64url')}`
}

/** The keyed hash of an API secret, bound to its integration: under another address it matches nothing. */
export function hashApiSecret(key: VersionedKey, address: string, secret: string): SecretHash {
  return hashSecret(key, 'api-secret', `${address}\n${secret}`)
}

/** Hashes a legacy key with a purpose of its own, so that it never matches the hash of an API secret. */
export function hashLegacyKey(key: VersionedKey, apiKey: string): SecretHash {
  return hashSecret(key, 'legacy-key', apiKey)
}

/** A fast hash is safe for 32 random bytes; with a slow one, a flood of requests could exhaust the processor. */
function hashSecret(key: VersionedKey, purpose: KeyPurpose, secret: string): SecretHash {
  const hash = createHmac('sha256', key.derive(purpose)).update(secret, 'utf8').digest('hex')
  return { keyVersion: key.version, hash }
}

/** Purposes that never share a key. */
export type KeyPurpose = SecretPurpose | RecordPurpose | TokenPurpose
type SecretPurpose = 'api-secret' | 'legacy-key' | 'signing-secret' | 'data-key' | 'email' | 'email-hash'
type RecordPurpose = 'audit' | 'audit-url' | 'move-file' | 'archive-file'
type TokenPurpose = 'cursor' | 'csrf' | 'sign-in'

/** A key and its version, a fingerprint by which stored rows name the key that they need. */
export interface VersionedKey {
  readonly version: number
  /** The 32-byte key of a purpose. */
  derive(purpose: KeyPurpose): Uint8Array
}

/** The current key and the ones that it replaced. New rows use the current key; old rows need their own. */
export interface MasterKey {
  readonly current: VersionedKey
  readonly all: readonly VersionedKey[]
  /** The key of a stored row, or undefined when it is not configured. */
  find(version: number): VersionedKey | undefined
}

/**
 * Parses master keys: 32 random bytes each, as base64url or 64 hex digits, separated by commas, newest first.
 * @throws RangeError When one is missing, short, or of another form. The message does not contain the key.
 * @example
 * import { randomBytes } from 'node:crypto'
 * import { parseMasterKey } from '@payment-integration/core'
 * const masterKey = parseMasterKey(randomBytes(32).toString('base64url'))
 */
export function parseMasterKey(text: string): MasterKey {
  const [first = '', ...older] = text.split(',')
  const current = createVersionedKey(parseKey(first.trim()))
  const all = [current, ...older.map((part) => createVersionedKey(parseKey(part.trim())))]
  if (new Set(all.map((key) => key.version)).size !== all.length)
    throw new RangeError('The same master key is given twice; list each one once.')
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

function createVersionedKey(key: Uint8Array): VersionedKey {
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
