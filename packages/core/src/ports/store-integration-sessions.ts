/** Sessions of integrations at the portal. No plain token reaches a store. Source: docs/decisions/portal.md. @module */
import type { IntegrationRecord } from './store-integrations.js'

/** A session as stored. */
export interface IntegrationSessionRecord {
  /** SHA-256 of its token, 64 lowercase hex digits. */
  readonly hash: string
  /** Lowercased. */
  readonly integrationAddress: string
  /** The stored hash of the API secret that opened it: the session ends with that secret. */
  readonly apiSecretHash: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Unix milliseconds: from then on it is expired. */
  readonly expiresAt: number
}

/** Reads sessions of integrations. */
export interface IntegrationSessionStore {
  /** A session with its integration as it is now, expired or not. */
  find(
    hash: string,
  ): Promise<{ readonly session: IntegrationSessionRecord; readonly integration: IntegrationRecord } | null>
}

/** Changes sessions of integrations, as part of a transaction. */
export interface IntegrationSessionTransaction {
  /** Stores a session. The transaction rejects if the hash is taken or the integration is unknown. */
  insert(session: IntegrationSessionRecord): Promise<void>
  /** Deletes a session. Resolves it, or null when there is none. */
  delete(hash: string): Promise<IntegrationSessionRecord | null>
  /** Deletes all sessions of an integration. Resolves their number. */
  deleteOf(integrationAddress: string): Promise<number>
  /** Deletes all but the newest `count` sessions of an integration. */
  keepNewest(integrationAddress: string, count: number): Promise<void>
  /** Deletes the sessions that are expired at `now`. */
  deleteExpired(now: number): Promise<void>
}
