import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from '../../core/test/identity-oracle/history.js'
import { realSystem } from '../../core/test/identity-oracle/real/real-system.js'
import { createPostgresEngine } from '../src/postgres/postgres-engine.js'
import { onOwnPostgres } from './support/on-postgres.js'
import { type OracleDatabase, oracleDatabase } from './support/oracle-backend.js'

const count = 10
/** The connections of all processes' transactions, and of the oracle's reads. */
const connections = 40

onOwnPostgres('PostgreSQL', { fsync: false }, ({ admin, connectionString }) => {
  let database: OracleDatabase
  beforeAll(async () => {
    const waiting = async () => {
      const { rows } = await admin().query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock'`,
      )
      return rows[0]?.waiting ?? 0
    }
    const pool = new pg.Pool({ connectionString: connectionString(), max: connections })
    const open = (clock: { now(): number }) =>
      createPostgresEngine(pool, { schema: 'oracle', clock, end: () => pool.end() })
    database = await oracleDatabase(open, waiting)
  })
  afterAll(() => database?.close())

  test('identity keeps every promise, with pauses and kills within its transactions', {
    timeout: 600_000,
  }, async () => {
    const finding = await firstFinding(seedsAsked(count), () => realSystem(database.open))
    expect(finding && report(finding)).toBeNull()
  })
})
