import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing } from '../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../test/support/engines.js'
import { type Compiled, postgresScans, sqlitePlan } from '../test/support/plans.js'
import { createStore } from './create-store.js'
import {
  expiredIntegrationSessionsQuery,
  integrationSessionQuery,
  integrationSessionsOfQuery,
} from './integration-sessions.js'

/** Integrations, and sessions of each. */
const integrations = 2_000
const sessions = 3
const hashOf = (n: number) => n.toString(16).padStart(64, '0')
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  await store.transaction(async (tx) => {
    for (let n = 0; n < integrations; n += 1) {
      const integrationAddress = addressOf(n)
      await tx.integrations.insert(fixtures.integration({ address: integrationAddress }))
      const times = { createdAt: 0, expiresAt: n }
      for (let s = 0; s < sessions; s += 1)
        await tx.integrationSessions.insert({
          hash: hashOf(n * sessions + s),
          integrationAddress,
          apiSecretHash: hashOf(n),
          ...times,
        })
    }
  })
}

const queries = (db: OpenEngine['engine']['read']): Record<string, Compiled> => ({
  'session with its integration': integrationSessionQuery(db, hashOf(7)) as Compiled,
  'sessions of an integration': integrationSessionsOfQuery(db, addressOf(7)) as Compiled,
  'expired sessions': expiredIntegrationSessionsQuery(db, 1) as Compiled,
})

describe('SQLite', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  })
  afterAll(() => open?.close())

  test('finds sessions of integrations by an index, and walks no table', async () => {
    for (const [name, query] of Object.entries(queries(open.engine.read))) {
      const steps = (await sqlitePlan(open.engine, query)).map(({ detail }) => detail)
      expect(steps.length, name).toBeGreaterThan(0)
      for (const step of steps) expect(step, name).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/)
    }
  })
})

describe.skipIf(postgresMissing)(
  `PostgreSQL${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let open: OpenEngine
    beforeAll(async () => {
      open = await openPostgres()
      await fill(open)
      await sql`analyze`.execute(open.engine.read)
    })
    afterAll(() => open?.close())

    test('finds sessions of integrations by an index, and touches only the rows of the answer', async () => {
      for (const [name, query] of Object.entries(queries(open.engine.read))) {
        const all = await postgresScans(open.engine, query)
        const scans = all.filter(({ type }) => type !== 'ModifyTable')
        expect(scans.length, name).toBeGreaterThan(0)
        for (const { type, touched } of scans) {
          expect(type, name).toMatch(/^(Index (Only )?Scan|Bitmap Heap Scan)$/)
          expect(touched, name).toBeLessThanOrEqual(2 * sessions)
        }
      }
    })
  },
)
