/** The schema of the database, which changes in steps while releases run side by side. @module */

/** A step that is not done yet. */
export interface SchemaStep {
  /** The schema version that it leads to. */
  readonly version: number
  /** Its effect in words, for operators. */
  readonly about: string
  /** Estimated number of rows that it reads or changes; null: no rows of large tables. */
  readonly rows: number | null
}

/** A step in progress. */
export interface SchemaProgress extends SchemaStep {
  /** `waiting`: another session holds a lock that it needs. */
  readonly event: 'begun' | 'waiting' | 'progress' | 'done'
  /** How far a change of rows is, from 0 to 1. */
  readonly share: number
}

/** Receives the progress of a migration. */
export type SchemaReport = (progress: SchemaProgress) => void

/** The schema, apart from `migrate`. */
export interface StoreSchema {
  /**
   * Checks that this release can work with the schema. It can with a newer one too, until the newer release has
   * removed what this one needs.
   * @throws StoreError `ERR_STORE_SCHEMA` when steps are missing, or a newer release removed what this one needs.
   */
  check(): Promise<void>
  /** The steps that `migrate` runs now, and those that `contract` runs then. */
  plan(): Promise<{ readonly expand: readonly SchemaStep[]; readonly contract: readonly SchemaStep[] }>
  /**
   * Removes what only older releases need. Call it when none of their processes runs any more: they fail afterwards.
   * @throws StoreError `ERR_STORE_SCHEMA` while `migrate` has steps to run.
   */
  contract(report?: SchemaReport): Promise<void>
}
