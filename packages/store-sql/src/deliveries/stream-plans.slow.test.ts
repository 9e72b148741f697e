/** The query of a stream uses the index `snapshots_integration`. See docs/decisions/trigger-and-listen.md. */

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import { postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { streamQuery } from './delivery-store.js'

const { address, hash, indexPayments, integration, primary } = fixtures

const stored = 20_000
const limit = 16
/** Has most deliveries of the older half, and none since. */
const quiet = address(0xa0)
/** Has one of 200 deliveries. */
const rare = address(0xa1)
const frequent = address(0xa2)
const shops = [quiet, rare, frequent]

function getOwner(n: number): string {
  if (n % 200 === 0) return rare
  return n < stored / 2 ? quiet : frequent
}

async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  for (const own of shops) await store.integrations.insert(integration({ address: own }))
  const given = Array.from({ length: stored }, (_, n) => primary({ txHash: hash(n), integrationAddress: getOwner(n) }))
  await store.transaction((tx) => indexPayments(tx, given))
}

/** The first part of a backlog, and the read after an announcement, at the end. */
const queries = ({ engine: { dialect } }: OpenEngine, integrationAddress: string) =>
  ['0', String(stored / 2), String(stored - 400)].map((afterId) => ({
    compile: () => streamQuery(dialect, { integrationAddress, afterId, upToId: String(stored), limit }),
  }))

describe('SQLite', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  })
  afterAll(() => open?.close())

  test.each(shops)('reads the deliveries of %s by the index, and the rest by their keys', async (own) => {
    for (const query of queries(open, own)) {
      const plan = (await sqlitePlan(open.engine, query)).map(({ detail }) => detail)
      expect(plan.filter((step) => /\bsnapshots\b/.test(step))).toEqual([
        'SEARCH snapshots USING INDEX snapshots_integration (integration=? AND id>? AND id<?)',
      ])
      expect(plan.filter((step) => /^SCAN (?!d\b)/.test(step))).toEqual([])
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
    })
    afterAll(() => open?.close())

    for (const statistics of ['none yet', 'fresh'] as const)
      test.each(shops)(`reads no other delivery than those of %s, with statistics: ${statistics}`, async (own) => {
        if (statistics === 'fresh') await sql`analyze`.execute(open.engine.read)
        for (const query of queries(open, own)) {
          const found = (await postgresScans(open.engine, query)).filter(({ table }) => table === 'snapshots')
          expect(found).toMatchObject([{ type: 'Index Scan', index: 'snapshots_0_integration_id_idx' }])
          expect(found[0]?.touched).toBeLessThanOrEqual(limit)
        }
      })
  },
)
