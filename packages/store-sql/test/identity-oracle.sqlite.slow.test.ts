import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from '../../core/test/identity-oracle/first-finding.js'
import { realSystem } from '../../core/test/identity-oracle/real/real-system.js'
import { createSqliteEngine } from '../src/sqlite/create-sqlite-store.js'
import { createFile } from '../src/sqlite/sqlite-file.js'
import { temporaryFolder } from './support/engines.js'
import { type OracleDatabase, oracleDatabase } from './support/oracle-backend.js'

const count = 60

let folder: ReturnType<typeof temporaryFolder>
let database: OracleDatabase
beforeAll(async () => {
  folder = temporaryFolder()
  database = await oracleDatabase((now) => createSqliteEngine(createFile(join(folder.path, 'payments.db'), 5_000), now))
})
afterAll(async () => {
  await database?.close()
  folder?.remove()
})

test('identity on SQLite keeps every promise', async () => {
  const finding = await firstFinding(seedsAsked(count), () => realSystem(database.open))
  expect(finding && report(finding)).toBeNull()
})
