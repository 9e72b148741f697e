/** The stored audit log: a hash chain, which reveals a missing record. @module */

export type AuditAction =
  | 'integration.created'
  | 'integration.enabled'
  | 'integration.disabled'
  | 'integration.url_set'
  | 'integration.api_secret_rotated'
  | 'integration.signing_secret_prepared'
  | 'integration.signing_secret_shown'
  | 'integration.signing_secret_activated'
  | 'integration.signing_secret_aborted'
  | 'integration.previous_api_secret_ended'
  | 'integration.previous_signing_secret_ended'
  | 'integration.test_sent'
  | 'integration.receiver_probed'
  | 'integration.signed_in'
  | 'integration.signed_out'
  | 'integration.sign_in_failed'
  | 'integration.exported'
  | 'integration.imported'
  | 'account.created'
  | 'account.changed'
  | 'account.removed'
  | 'legacy_key.created'
  | 'legacy_key.revoked'
  | 'operator.created'
  | 'operator.enabled'
  | 'operator.disabled'
  | 'operator.role_set'
  | 'operator.reset'
  | 'operator.link_redeemed'
  | 'operator.signed_in'
  | 'operator.signed_out'
  | 'operator.sign_in_failed'
  | 'secrets.resealed'
  | 'deliveries.replayed'
  | 'chain.repair_started'
  | 'identity.redemption_resolved'
  | 'identity.hold_closed'
  | 'identity.missing_closed'
  | 'identity.searched'
  | 'job.stopped'
  | 'lease.released'
  | 'history.archived'
  | 'deliveries.given_up'
  | 'history.restored'
  | 'export.started'
  | 'export.ended'

export interface AuditEntry {
  /** Unix time in milliseconds. */
  readonly at: number
  readonly actor: string
  readonly action: AuditAction
  /**
   * The object of the action, or `all`. An integration is named by its address, an account by its handle. A key, a
   * delivery, a chain, a job and an applicant are named by their id, a redemption and an operator by their name.
   */
  readonly subject: string
  /** The change, without any secret and without the query of a URL. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditRecord extends AuditEntry {
  /** From 1, without a gap. */
  readonly seq: number
  /** Version of the master key that keys `hash`. */
  readonly keyVersion: number
  /** Keyed hash over the previous record and this entry, 64 lowercase hex digits. */
  readonly hash: string
}

/** Names a record. A copy outside the database proves that no record up to it was deleted or rewritten. */
export type AuditHead = Pick<AuditRecord, 'seq' | 'at' | 'hash'>

export interface AuditStore {
  /** Records in their order. */
  list(query: { readonly afterSeq?: number | undefined; readonly limit: number }): Promise<AuditRecord[]>
  /** The newest record; null: the log is empty. */
  newest(): Promise<AuditRecord | null>
}

export interface AuditQueries extends Pick<AuditStore, 'list'> {
  /** The newest record, to store outside the database; null: the log is empty. */
  head(): Promise<AuditHead | null>
  /** Checks the hash chain from the first record to the last. @throws The signal's reason when it aborts. */
  verify(options?: {
    /** Called after each part with the number of checked records. */
    readonly onProgress?: ((records: number) => void) | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<AuditVerdict>
}

export interface AuditVerdict {
  readonly records: number
  /** The last intact record, or null. A copy outside the database also reveals a later deletion at the log's end. */
  readonly last: AuditHead | null
  /** The first `seq` that is missing, altered, or keyed with an unconfigured master key; null: the log is intact. */
  readonly brokenAt: number | null
}

export interface AuditTransaction {
  /** The newest record of the audit log, or null. Until this transaction ends, no other adds a record. */
  lockAudit(): Promise<AuditRecord | null>
  /** Adds a record. Call after {@link lockAudit}, with the next `seq`. */
  appendAudit(record: AuditRecord): Promise<void>
  /** Removes the records up to a number. Call after {@link lockAudit}. */
  removeAudit(upToSeq: number): Promise<void>
  /** Stores removed records again, in their order; records that are still stored stay. Call after {@link lockAudit}. */
  restoreAudit(records: readonly AuditRecord[]): Promise<void>
}
