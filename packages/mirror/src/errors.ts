/** Errors of the mirror itself. Those of the client, `verify` and most of the driver pass through. @module */

/** Every code of this package. */
export type MirrorErrorCode = 'ERR_MIRROR_OTHER_INTEGRATION' | 'ERR_MIRROR_TABLES_MISSING' | 'ERR_MIRROR_TABLE_FOREIGN'

/** Base of the errors of this package. `retryable`: the same call may succeed later, unchanged. */
export abstract class MirrorError extends Error {
  abstract readonly code: MirrorErrorCode
  readonly retryable = false
}

/** A table of the mirror is not there. Nothing was stored. */
export class MirrorTablesMissingError extends MirrorError {
  override readonly name = 'MirrorTablesMissingError'
  readonly code = 'ERR_MIRROR_TABLES_MISSING'
  /** @param cause - The driver's error. */
  constructor(table: string, cause: unknown) {
    super(`There is no table ${table}. Run migrate() of the mirror once, or the SQL of mirrorTables().`, { cause })
  }
}

/** A table with the mirror's name lacks columns of the mirror. Nothing was changed. */
export class MirrorTableForeignError extends MirrorError {
  override readonly name = 'MirrorTableForeignError'
  readonly code = 'ERR_MIRROR_TABLE_FOREIGN'
  /** @param cause - The driver's error. */
  constructor(table: string, cause: unknown) {
    super(`Table ${table} lacks columns of a mirror. Pass another prefix or schema to createMirror.`, { cause })
  }
}

/** A signed delivery, or an answer of the client, belongs to another integration than the mirror. */
export class OtherIntegrationError extends MirrorError {
  override readonly name = 'OtherIntegrationError'
  readonly code = 'ERR_MIRROR_OTHER_INTEGRATION'
  /** The integration of the delivery or the answer. */
  readonly integrationAddress: string
  constructor(integrationAddress: string, expected: string) {
    super(`The payment belongs to ${integrationAddress}, and this mirror copies ${expected}. Use a mirror for each.`)
    this.integrationAddress = integrationAddress
  }
}
