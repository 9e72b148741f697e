import { fixtures } from '@payment-integration/core/conformance'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import { postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { earliestQuery } from './delivery-store.js'

const { address, hash, indexPayments, integration, primary } = fixtures

const backlog = 20_000
const limit = 50
const backlogName = 'the number of pending ones'
/** One is disabled and has half of the backlog, which is also the oldest; four share the rest. */
const shops = [0, 1, 2, 3, 4].map((n) => address(0xa0 + n))

async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  for (const [n, own] of shops.entries()) await store.integrations.insert(integration({ address: own, enabled: n > 0 }))
  const owner = (n: number) => shops[n < backlog / 2 ? 0 : 1 + (n % 4)] ?? ''
  const given = Array.from({ length: backlog }, (_, n) => primary({ txHash: hash(n), integrationAddress: owner(n) }))
  await store.transaction((tx) => indexPayments(tx, given))
}

/** The claim goes straight past the older half of the backlog, which is held. */
async function claimOne({ engine }: OpenEngine): Promise<string | undefined> {
  const [claim] = await createStore(engine).deliveries.claim({ limit: 1, leaseMs: 1 })
  return claim?.txHash
}

const queries = ({ engine: { differences, read } }: OpenEngine) => ({
  'the due of a claim': {
    compile: () => differences.due({ lane: 0, after: { dueAt: -1, id: 0 }, limit }).compile(read),
  },
  'the due behind those': {
    compile: () => differences.due({ lane: 0, after: { dueAt: 1, id: 15_000 }, limit }).compile(read),
  },
  'the due retries': { compile: () => differences.due({ lane: 1, after: { dueAt: -1, id: 0 }, limit }).compile(read) },
  'the next due': { compile: () => earliestQuery(differences).compile(read) },
  [backlogName]: { compile: () => differences.pending(limit).compile(read) },
})

describe('SQLite finds due deliveries by the index', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  }, 60_000)
  afterAll(() => open?.close())

  test('one search per integration, and never a walk over the backlog', async () => {
    for (const [name, query] of Object.entries(queries(open))) {
      const plan = (await sqlitePlan(open.engine, query)).map(({ detail }) => detail)
      const search =
        name === backlogName
          ? /^SEARCH d USING COVERING INDEX deliveries_due \(integration=\?\)$/
          : /USING COVERING INDEX deliveries_due \(integration=\? AND lane=\?/
      expect(
        plan.some((step) => search.test(step)),
        `${name}: ${plan.join('; ')}`,
      ).toBe(true)
      expect(
        plan.filter((step) => /^SCAN (deliveries|d|q)\b/.test(step)),
        name,
      ).toEqual([])
    }
  })

  test('10,000 held deliveries that are older keep a claim of one from nothing', async () => {
    expect(await claimOne(open)).toBe(hash(backlog / 2))
  })
})

describe.skipIf(postgresMissing)(
  `PostgreSQL finds due deliveries by the index${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let open: OpenEngine
    beforeAll(async () => {
      open = await openPostgres()
      await fill(open)
    }, 60_000)
    afterAll(() => open?.close())

    for (const statistics of ['none yet', 'fresh'] as const)
      test(`touching no more than the limit per integration, with statistics: ${statistics}`, async () => {
        if (statistics === 'fresh') await sql`analyze`.execute(open.engine.read)
        for (const [name, query] of Object.entries(queries(open))) {
          const scans = await postgresScans(open.engine, query)
          const deliveries = scans.filter(({ table }) => table === 'deliveries')
          expect(deliveries.length, name).toBeGreaterThan(0)
          for (const { type, touched } of deliveries) {
            expect(type, name).toMatch(/^Index (Only )?Scan$/)
            expect(touched, name).toBeLessThanOrEqual(limit * shops.length)
          }
        }
      })

    test('10,000 held deliveries that are older keep a claim of one from nothing', async () => {
      expect(await claimOne(open)).toBe(hash(backlog / 2))
    })
  },
)
