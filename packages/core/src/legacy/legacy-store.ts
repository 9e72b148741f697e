/** Accounts and legacy keys as stored; times are unix milliseconds. Source: docs/interface.md 2.4. @module */
import type { LinkConfig } from '@payment-integration/contract'
import type { SecretHash } from '../secrets/keys.js'

export interface AccountRecord {
  /** Lowercased: the key. */
  readonly handle: string
  /** The receiver on chains for which the configuration names no other address; lowercased. */
  readonly address: string
  /** With lowercased addresses. */
  readonly config: LinkConfig
  readonly createdAt: number
}

export interface AccountTransaction extends Pick<AccountStore, 'find'> {
  /** Resolves false, writing nothing, when the handle is taken. */
  insert(record: AccountRecord): Promise<boolean>
  /** Replaces the given fields. Resolves the new record, or null when the handle is unknown. */
  update(handle: string, change: Partial<Pick<AccountRecord, 'address' | 'config'>>): Promise<AccountRecord | null>
  /** Resolves false when the handle is unknown. */
  remove(handle: string): Promise<boolean>
}

export interface AccountStore {
  find(handle: string): Promise<AccountRecord | null>
  /** The accounts with this address, or with it as the `defaultAddress` of a coin; ordered by handle. */
  findByAddress(address: string): Promise<AccountRecord[]>
  /** All accounts, ordered by handle. */
  list(): Promise<AccountRecord[]>
}

export interface LegacyKeyRecord {
  /** Public name of the key for operators. */
  readonly id: string
  readonly name: string
  readonly secret: SecretHash
  readonly createdAt: number
  /** Null: not revoked. Only then the key authenticates. */
  readonly revokedAt: number | null
}

export interface LegacyKeyStore {
  /** The key with one of these hashes, or null. Both cases cost the same. */
  findByHash(hashes: readonly SecretHash[]): Promise<LegacyKeyRecord | null>
  /** All keys, oldest first, then by id. */
  list(): Promise<LegacyKeyRecord[]>
}

export interface LegacyKeyTransaction extends Pick<LegacyKeyStore, 'list'> {
  /** Resolves false, writing nothing, when the id or the hash is taken. */
  insert(record: LegacyKeyRecord): Promise<boolean>
  /** Null: the id is unknown. A key that is revoked again keeps the time of its first revocation. */
  revoke(id: string, at: number): Promise<LegacyKeyRecord | null>
}
