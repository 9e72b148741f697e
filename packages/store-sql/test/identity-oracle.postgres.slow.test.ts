import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from '../../core/test/identity-oracle/first-finding.js'
import { realSystem } from '../../core/test/identity-oracle/real/real-system.js'
import { createPostgresEngine } from '../src/postgres/postgres-engine.js'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.js'
import { type OracleDatabase, oracleDatabase } from './support/oracle-backend.js'

const count = 10
/** The connections of all processes' transactions, and of the oracle's reads. */
const connections = 40

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let server: TestPostgres
    let observer: pg.Client
    let database: OracleDatabase
    beforeAll(async () => {
      server = await startPostgres({ fsync: false })
      const { connectionString } = server
      observer = new pg.Client({ connectionString })
      await observer.connect()
      const waiting = async () => {
        const { rows } = await observer.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock'`,
        )
        return rows[0]?.waiting ?? 0
      }
      const pool = new pg.Pool({ connectionString, max: connections })
      database = await oracleDatabase(
        (now) => createPostgresEngine(pool, { schema: 'oracle', now, end: () => pool.end() }),
        waiting,
      )
    })
    afterAll(async () => {
      await database?.close()
      await observer?.end()
      await server?.remove()
    })

    test('identity keeps every promise, with pauses and kills within its transactions', {
      timeout: 600_000,
    }, async () => {
      const finding = await firstFinding(seedsAsked(count), () => realSystem(database.open))
      expect(finding && report(finding)).toBeNull()
    })
  },
)
