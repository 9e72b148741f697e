/**
 * The audit log: who changed secrets, URLs, deliveries and verifications, and when. Its records are chained, so that a
 * missing one shows.
 * @module
 */

/** What was done. */
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
  | 'legacy_key.created'
  | 'legacy_key.revoked'
  | 'secrets.resealed'
  | 'deliveries.replayed'
  | 'identity.redemption_resolved'
  | 'identity.hold_closed'
  | 'identity.missing_closed'

/** An entry before it is chained. */
export interface AuditEntry {
  /** Unix time in milliseconds. */
  readonly at: number
  /** Who did it: a person or a program. */
  readonly actor: string
  readonly action: AuditAction
  /**
   * What it was done to: an integration address, the id of a key, of a delivery or of an applicant, the name of a
   * redemption, or `all`.
   */
  readonly subject: string
  /** What changed, without any secret and without the query of a URL. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>
}

/** An entry as stored. */
export interface AuditRecord extends AuditEntry {
  /** From 1, without a gap. */
  readonly seq: number
  /** Version of the master key that the chain was keyed with here. */
  readonly keyVersion: number
  /** Keyed hash over the record before and this entry, 64 lowercase hex digits. */
  readonly hash: string
}

/** Reads the audit log. */
export interface AuditStore {
  /** Records in their order. */
  list(query: { readonly afterSeq?: number | undefined; readonly limit: number }): Promise<AuditRecord[]>
  /** The newest record; null: the log is empty. */
  newest(): Promise<AuditRecord | null>
}
