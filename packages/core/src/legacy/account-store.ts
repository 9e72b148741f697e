/**
 * Accounts with their handles and link configurations. Source: docs/interface.md 2.4 (link configuration), 4.3.
 * @module
 */
import type { LinkConfig } from '@payment-integration/contract'

/** An account as stored. */
export interface AccountRecord {
  /** Lowercased: the key. */
  readonly handle: string
  /** Receives payments on chains for which the configuration names no other address; lowercased. */
  readonly address: string
  /** Addresses in it are lowercased. */
  readonly config: LinkConfig
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** Accounts by handle. They change within a transaction alone, with the record of the audit log. */
export interface AccountStore {
  find(handle: string): Promise<AccountRecord | null>
  /**
   * The accounts that receive payments at an address on any chain: as their own, or as a coin's `defaultAddress`. By
   * handle.
   */
  findByAddress(address: string): Promise<AccountRecord[]>
  /** All accounts, by handle. */
  list(): Promise<AccountRecord[]>
}

/** Accounts within a transaction. */
export interface AccountTransaction extends Pick<AccountStore, 'find'> {
  /** Resolves false, writing nothing, when the handle is taken. */
  insert(record: AccountRecord): Promise<boolean>
  /** Replaces the given fields. Resolves the new record, or null when the handle is unknown. */
  update(handle: string, change: Partial<Pick<AccountRecord, 'address' | 'config'>>): Promise<AccountRecord | null>
  /** Resolves false when the handle is unknown. */
  remove(handle: string): Promise<boolean>
}
