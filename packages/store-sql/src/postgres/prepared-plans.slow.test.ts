import type { Store } from '@payment-integration/core/ports'
import type pg from 'pg'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onOwnPostgres } from '../../test/support/on-postgres.js'
import { getNodes, type PlanNode } from '../../test/support/plans.js'
import { createPostgresStore } from './create-postgres-store.js'

const { claimOne, hash, indexAll, numbered, settleOne } = fixtures

const getScans = (plan: PlanNode): string[] =>
  getNodes(plan).flatMap(({ 'Node Type': type, 'Relation Name': table, 'Index Name': index = 'nothing' }) =>
    table === undefined ? [] : [`${type} of ${table} by ${index}`],
  )

const index = (store: Store, from: number, count: number) => indexAll(store, numbered(count, from))

/** The statements that the connection keeps, with the scans of their generic plans. */
async function keptPlans(pool: pg.Pool) {
  const { rows: kept } = await pool.query<{ name: string; types: number; statement: string; generic_plans: string }>(
    'select name, cardinality(parameter_types) as types, statement, generic_plans from pg_prepared_statements',
  )
  await pool.query('set plan_cache_mode = force_generic_plan')
  const plans = kept.map(async ({ name, types, statement, generic_plans }) => {
    const nulls = Array(types).fill('null').join(', ')
    const query = `explain (format json) execute "${name}"(${nulls})`
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(query)
    return { statement, runs: Number(generic_plans), scans: rows.flatMap((row) => getScans(row['QUERY PLAN'][0].Plan)) }
  })
  return Promise.all(plans)
}

onOwnPostgres('plans that were made while the tables were empty search by index when they are full', {}, (postgres) => {
  /** A store on one connection, whose plans are looked at; a migration needs more than one. */
  async function openOnOne() {
    const schema = postgres.nextSchema()
    await postgres.openMigrated({ schema })
    const pool = postgres.pool({ max: 1 })
    return { pool, store: createPostgresStore({ pool, schema }) }
  }

  test('for claims and settlements', async () => {
    const { pool, store } = await openOnOne()
    await index(store, 0, 1)
    for (let n = 0; n < 8; n += 1) {
      const claim = await claimOne(store)
      const verdict = n < 7 ? ({ kind: 'retry', inMs: 0 } as const) : ({ kind: 'delivered' } as const)
      expect(await settleOne(store, claim, fixtures.failed, verdict)).toBe(n < 7 ? 'pending' : 'delivered')
    }
    await index(store, 1, 2_000)
    expect(await store.deliveries.claim({ limit: 500, leaseMs: 60_000 })).toHaveLength(500)
    const kept = (await keptPlans(pool)).filter(({ statement }) => statement.includes('outbox'))
    // Two searches, two reads of claimed or settled rows, a lease, a settlement, and a read of newer versions.
    expect(kept).toHaveLength(7)
    let dueSearches = 0
    for (const { runs, scans } of kept) {
      expect(runs).toBeGreaterThan(0)
      expect(scans.filter((scan) => /^(Seq|Bitmap).*of (outbox|payments|snapshots) /.test(scan))).toEqual([])
      const byDue = scans.filter((scan) => scan.endsWith('of outbox by outbox_due'))
      const byId = scans.filter((scan) => scan.endsWith('of outbox by outbox_pkey'))
      expect([byDue.length > 0, byId.length]).toEqual(byDue.length > 0 ? [true, 0] : [false, 1])
      if (byDue.length > 0) dueSearches += 1
    }
    expect(dueSearches).toBe(2)
  })

  test('for updates', async () => {
    const { pool, store } = await openOnOne()
    const change = async (tx: Parameters<Parameters<Store['transaction']>[0]>[0], n: number) => {
      const payment = await fixtures.lockPayment(tx, hash(n))
      expect(await tx.findUpdates([`u${n}`])).toEqual([])
      const update = fixtures.update({ id: `u${n}`, txHash: hash(n) })
      await tx.insertUpdates([fixtures.decided(payment, { update, version: 2 })])
      const state = n % 2 === 0 ? 'success' : 'pending'
      await fixtures.setStatus(tx, payment.id, fixtures.getStatus(2, { state }))
      await tx.insertSnapshots([fixtures.makeSnapshot(payment, 2)])
    }
    await index(store, 0, 2)
    for (const n of [0, 1]) await store.transaction((tx) => change(tx, n), { searches: true })
    await index(store, 2, 2_000)
    await store.transaction((tx) => change(tx, 2), { searches: true })
    const found = new Set<string>()
    for (const { statement, scans } of await keptPlans(pool))
      for (const scan of scans) {
        expect(scan, statement).not.toMatch(/^(Seq|Bitmap) .*Scan of/)
        if (scan.startsWith('Index')) found.add(scan.replace(/^Index (Only )?Scan of /, ''))
      }
    expect([...found].sort()).toEqual([
      'integrations by integrations_pkey',
      'payments by payments_pkey',
      'payments by payments_tx_hash_chain_id_ordinal_key',
      'statuses by statuses_pkey',
      'unsettled by unsettled_pkey',
      'updates by updates_pkey',
    ])
  })
})
