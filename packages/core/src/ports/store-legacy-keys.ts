/**
 * API keys of the legacy endpoints. No plain key ever reaches a store. Source: docs/interface.md 5 (legacy API).
 * @module
 */
import type { SecretHash } from './store-integrations.js'

/** A key as stored. */
export interface LegacyKeyRecord {
  /** Names the key to operators; not secret. */
  readonly id: string
  readonly name: string
  readonly secret: SecretHash
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Unix milliseconds when it was revoked, or null: only such a key opens the endpoints. */
  readonly revokedAt: number | null
}

/** Legacy API keys. */
export interface LegacyKeyStore {
  /** The key with one of these hashes, or null. Costs the same whether there is one or not. */
  findByHash(hashes: readonly SecretHash[]): Promise<LegacyKeyRecord | null>
  /** All of them, oldest first, then by id. */
  list(): Promise<LegacyKeyRecord[]>
  /** Resolves false, writing nothing, when the id or the hash is taken. */
  insert(record: LegacyKeyRecord): Promise<boolean>
  /**
   * Resolves the record after it, or null when there is no such key. A key that was revoked before keeps its first
   * time.
   */
  revoke(id: string, at: number): Promise<LegacyKeyRecord | null>
}
