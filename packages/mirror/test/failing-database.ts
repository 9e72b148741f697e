/** A database that fails where a test says so. */
import type { MirrorDatabase } from '../src/exports/index.js'

/** Statements for which `fails` returns true throw, and do nothing. */
export function failingDatabase(database: MirrorDatabase, fails: (sql: string) => boolean): MirrorDatabase {
  const check = (sql: string) => {
    if (fails(sql)) throw new Error('the disk is gone')
  }
  if ('query' in database) {
    const query = database.query as (...values: unknown[]) => Promise<unknown>
    const checked = async (sql: string, values?: unknown[]) => {
      check(sql)
      return query.call(database, sql, values)
    }
    return { connect: database.connect, query: checked } as MirrorDatabase
  }
  const prepare: typeof database.prepare = (sql) => ({
    all(...values) {
      check(sql)
      return database.prepare(sql).all(...values)
    },
  })
  return { exec: (sql) => database.exec(sql), prepare }
}
