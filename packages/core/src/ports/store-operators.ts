/**
 * Operators and their sessions. No plain passphrase, token or link ever reaches a store. Source:
 * docs/decisions/operators.md.
 * @module
 */

/** A viewer reads, an operator also acts, an admin also manages secrets and operators. */
export type OperatorRole = 'viewer' | 'operator' | 'admin'

/** A one-time link, with which an operator sets a passphrase. */
export interface OneTimeLink {
  /** SHA-256 of its token, 64 lowercase hex digits. */
  readonly hash: string
  /** Unix milliseconds: from then on it is expired. */
  readonly expiresAt: number
}

/** An operator as stored. */
export interface OperatorRecord {
  /** Unique, lowercased. */
  readonly name: string
  readonly role: OperatorRole
  readonly enabled: boolean
  /**
   * Hash of the passphrase with its parameters, or `oidc` for an operator of the OpenID provider. Null: none is set, so
   * nobody can sign in.
   */
  readonly passphrase: string | null
  /** Null: none was issued since the last one was redeemed. */
  readonly link: OneTimeLink | null
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** A change of an operator. Absent fields stay. */
export type OperatorChange = Partial<Pick<OperatorRecord, 'role' | 'enabled' | 'passphrase' | 'link'>>

/** A session as stored. */
export interface SessionRecord {
  /** SHA-256 of its token, 64 lowercase hex digits. */
  readonly hash: string
  /** Name of its operator. */
  readonly operator: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Unix milliseconds: from then on it is expired. */
  readonly expiresAt: number
}

/** Reads operators and sessions. */
export interface OperatorStore {
  find(name: string): Promise<OperatorRecord | null>
  /** The operator whose one-time link has this hash, expired or not. */
  findByLink(hash: string): Promise<OperatorRecord | null>
  /** All operators, by name. */
  list(): Promise<OperatorRecord[]>
  /** A session with its operator, expired or not. */
  findSession(hash: string): Promise<{ readonly session: SessionRecord; readonly operator: OperatorRecord } | null>
}

/** Changes operators and sessions, as part of a transaction. */
export interface OperatorTransaction extends Pick<OperatorStore, 'find' | 'findByLink' | 'list'> {
  /** Resolves false, writing nothing, when the name or the hash of the link is taken. */
  insert(record: OperatorRecord): Promise<boolean>
  /** Resolves the new record, or null when the name is unknown. */
  update(name: string, change: OperatorChange): Promise<OperatorRecord | null>
  /** Stores a session. The transaction rejects if the hash is taken or the operator is unknown. */
  insertSession(session: SessionRecord): Promise<void>
  /** Deletes a session. Resolves it, or null when there is none. */
  deleteSession(hash: string): Promise<SessionRecord | null>
  /** Deletes all sessions of an operator. Resolves their number. */
  deleteSessionsOf(operator: string): Promise<number>
  /** Deletes all but the newest `count` sessions of an operator. */
  keepNewestSessions(operator: string, count: number): Promise<void>
  /** Deletes the sessions that are expired at `now`. */
  deleteExpiredSessions(now: number): Promise<void>
}
