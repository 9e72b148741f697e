/** Loads the API of `node:sqlite`: the built-in one, else `@photostructure/sqlite`. @module */

/** The used part of a prepared statement. */
export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  /** Runs it without reading rows; `changes` is the number of written rows. */
  run(...parameters: unknown[]): { readonly changes: number | bigint }
  /** Makes it return rows as arrays. Not on every runtime. */
  setReturnArrays?(on: boolean): void
  /** The columns of a row, in order. Not on every runtime. */
  columns?(): readonly { readonly name: string | null }[]
}

/** The used part of a database. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

/** Opens a file; both implementations are synchronous. */
export type SqliteConstructor = new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase

/** Loads the implementation for this runtime. */
export async function loadSqlite(): Promise<SqliteConstructor> {
  if (hasBuiltin(process.versions.node)) {
    const builtin = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: SqliteConstructor } | undefined
    if (builtin !== undefined) return builtin.DatabaseSync
  }
  const { DatabaseSync } = await import('@photostructure/sqlite')
  return DatabaseSync as unknown as SqliteConstructor
}

/** Node 22.13 is the first release whose `node:sqlite` needs no flag. */
export function hasBuiltin(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}
