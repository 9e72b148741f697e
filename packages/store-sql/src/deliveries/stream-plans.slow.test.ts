/** The query of a stream uses the index `snapshots_integration`. See docs/decisions/trigger-and-listen.md. */
import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import { postgresScans, sqliteSteps } from '../../test/support/plans.js'
import type { Engine } from '../engine.js'
import { streamQuery } from './delivery-store.js'

const { address, hash, indexAll, integration, primary } = fixtures

const stored = 20_000
const limit = 16
/** Has most deliveries of the older half, and none since. */
const quiet = address(0xa0)
/** Has one of 200 deliveries. */
const rare = address(0xa1)
const frequent = address(0xa2)
const shops = [quiet, rare, frequent]

async function fill(store: Store): Promise<void> {
  for (const own of shops) await fixtures.insertIntegration(store, integration({ address: own }))
  const owner = (n: number) => (n % 200 === 0 ? rare : n < stored / 2 ? quiet : frequent)
  const given = Array.from({ length: stored }, (_, n) => primary({ txHash: hash(n), integrationAddress: owner(n) }))
  await indexAll(store, given)
}

/** The first part of a backlog, and the read after an announcement, at the end. */
const queries = ({ dialect }: Engine, integrationAddress: string) =>
  ['0', String(stored / 2), String(stored - 400)].map((afterId) => ({
    compile: () => streamQuery(dialect, { integrationAddress, afterId, upToId: String(stored), limit }),
  }))

onFilledDatabases(fill, {
  SQLite: (engine) =>
    test.each(shops)('reads the deliveries of %s by the index, and the rest by their keys', async (own) => {
      for (const query of queries(engine(), own)) {
        const plan = await sqliteSteps(engine(), query)
        expect(plan.filter((step) => /\bsnapshots\b/.test(step))).toEqual([
          'SEARCH snapshots USING INDEX snapshots_integration (integration=? AND id>? AND id<?)',
        ])
        expect(plan.filter((step) => /^SCAN (?!d\b)/.test(step))).toEqual([])
      }
    }),
  PostgreSQL(engine) {
    for (const statistics of ['none yet', 'fresh'] as const)
      test.each(shops)(`reads no other delivery than those of %s, with statistics: ${statistics}`, async (own) => {
        if (statistics === 'fresh') await analyze(engine())
        for (const query of queries(engine(), own)) {
          const found = (await postgresScans(engine(), query)).filter(({ table }) => table === 'snapshots')
          expect(found).toMatchObject([{ type: 'Index Scan', index: 'snapshots_0_integration_id_idx' }])
          expect(found[0]?.touched).toBeLessThanOrEqual(limit)
        }
      })
  },
})
