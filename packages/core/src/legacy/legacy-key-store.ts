/**
 * API keys of the legacy endpoints. No plain key ever reaches a store. Source: docs/interface.md 5 (legacy API).
 * @module
 */
import type { SecretHash } from '../integrations/integration.js'

/** A key as stored. */
export interface LegacyKeyRecord {
  /** Public name of the key for operators. */
  readonly id: string
  readonly name: string
  readonly secret: SecretHash
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Unix milliseconds of its revocation, or null: only a key that is not revoked authenticates. */
  readonly revokedAt: number | null
}

/** Legacy API keys. */
export interface LegacyKeyStore {
  /** The key with one of these hashes, or null. Both cases cost the same. */
  findByHash(hashes: readonly SecretHash[]): Promise<LegacyKeyRecord | null>
  /** All keys, oldest first, then by id. */
  list(): Promise<LegacyKeyRecord[]>
  /** Resolves false, writing nothing, when the id or the hash is taken. */
  insert(record: LegacyKeyRecord): Promise<boolean>
  /**
   * Resolves the new record, or null when the id is unknown. A key that was revoked before keeps its first time.
   */
  revoke(id: string, at: number): Promise<LegacyKeyRecord | null>
}
