/** Which master keys the rows of a database need. @module */

/** Rows of one place that one master key sealed, or hashed so that they can be compared. */
export interface SealingKeyUse {
  /** Table and what it keeps, such as `integrations.signing_secret`. */
  readonly place: string
  /** Version of the master key. */
  readonly keyVersion: number
  /** How many rows; at least 1. */
  readonly rows: number
}
