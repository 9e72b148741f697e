/** Registers tests on both databases: a new SQLite file, and an empty schema of a PostgreSQL server. @module */
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { Engine } from '../../src/engine.js'
import { type OpenEngine, openPostgres, openSqlite } from './engines.js'
import { describeOnPostgres } from './on-postgres.js'

/** Registers tests for both databases; each call of the function that they get yields an empty one. */
export function onBothDatabases(register: (empty: () => Promise<Engine>, database: 'SQLite' | 'PostgreSQL') => void) {
  describe('SQLite', () => {
    const closing: OpenEngine[] = []
    afterEach(async () => {
      for (const each of closing.splice(0)) await each.close()
    })
    register(async () => {
      const opened = await openSqlite()
      closing.push(opened)
      return opened.engine
    }, 'SQLite')
  })

  describeOnPostgres('PostgreSQL', () => {
    let opened: OpenEngine
    beforeAll(async () => {
      opened = await openPostgres()
    })
    afterAll(() => opened?.close())
    register(async () => {
      await opened.engine.transaction((db) => sql`drop schema if exists plans cascade`.execute(db))
      return opened.engine
    }, 'PostgreSQL')
  })
}
