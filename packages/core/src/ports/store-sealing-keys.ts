/** The master keys that the rows of a database need. @module */

/** Rows of one place that one master key sealed or hashed. */
export interface SealingKeyUse {
  /** Table and secret, such as `integrations.signing_secret`. */
  readonly place: string
  /** Version of the master key. */
  readonly keyVersion: number
  /** How many rows; at least 1. */
  readonly rows: number
}
