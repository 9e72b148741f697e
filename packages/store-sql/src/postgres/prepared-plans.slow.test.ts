import pg from 'pg'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { postgresMissing, startPostgres } from '../../test/postgres.js'
import { createPostgresStore } from './create-postgres-store.js'

const { claimOne, hash, indexPayments, integration, primary, settleOne } = fixtures

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly Plan[]
}

const getScans = (plan: Plan): string[] => [
  ...(plan['Relation Name'] === undefined
    ? []
    : [`${plan['Node Type']} of ${plan['Relation Name']} by ${plan['Index Name'] ?? 'nothing'}`]),
  ...(plan.Plans ?? []).flatMap(getScans),
]

/** A migration needs more than the one connection whose plans are looked at. */
async function migrateApart(connectionString: string): Promise<void> {
  const store = createPostgresStore({ connectionString, schema: 'kept' })
  await store.migrate()
  await store.close()
}

test.skipIf(postgresMissing)(
  `plans of claims and settlements that were made while the tables were empty search by index when they are full${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const server = await startPostgres()
    const pool = new pg.Pool({ connectionString: server.connectionString, max: 1 })
    const store = createPostgresStore({ pool, schema: 'kept' })
    try {
      await migrateApart(server.connectionString)
      await store.integrations.insert(integration())
      await store.transaction((tx) => indexPayments(tx, [primary({ txHash: hash(0) })]))
      for (let n = 0; n < 8; n += 1) {
        const claim = await claimOne(store)
        const verdict = n < 7 ? ({ kind: 'retry', inMs: 0 } as const) : ({ kind: 'delivered' } as const)
        expect(await settleOne(store, claim, fixtures.failed, verdict)).toBe(n < 7 ? 'pending' : 'delivered')
      }
      const payments = Array.from({ length: 2_000 }, (_, n) => primary({ txHash: hash(n + 1) }))
      await store.transaction((tx) => indexPayments(tx, payments))
      const claims = await store.deliveries.claim({ limit: 500, leaseMs: 60_000 })
      expect(claims).toHaveLength(500)

      const { rows: kept } = await pool.query<{ name: string; types: number; generic_plans: string }>(
        `select name, cardinality(parameter_types) as types, generic_plans from pg_prepared_statements
         where statement like '%outbox%'`,
      )
      // Two searches, two reads of claimed or settled rows, a lease, a settlement, and a read of newer versions.
      expect(kept).toHaveLength(7)
      let dueSearches = 0
      await pool.query('set plan_cache_mode = force_generic_plan')
      for (const { name, types, generic_plans } of kept) {
        expect(Number(generic_plans)).toBeGreaterThan(0)
        const nulls = Array(types).fill('null').join(', ')
        const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `explain (format json) execute "${name}"(${nulls})`,
        )
        const scans = rows.flatMap((row) => getScans(row['QUERY PLAN'][0].Plan))
        expect(scans.filter((scan) => /^(Seq|Bitmap).*of (outbox|payments|snapshots) /.test(scan))).toEqual([])
        const byDue = scans.filter((scan) => scan.endsWith('of outbox by outbox_due'))
        const byId = scans.filter((scan) => scan.endsWith('of outbox by outbox_pkey'))
        expect([byDue.length > 0, byId.length]).toEqual(byDue.length > 0 ? [true, 0] : [false, 1])
        if (byDue.length > 0) dueSearches += 1
      }
      expect(dueSearches).toBe(2)
    } finally {
      await pool.end()
      await server.remove()
    }
  },
)

test.skipIf(postgresMissing)(
  `plans of updates that were made while the tables were empty search by index when they are full${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const server = await startPostgres()
    const pool = new pg.Pool({ connectionString: server.connectionString, max: 1 })
    const store = createPostgresStore({ pool, schema: 'kept' })
    const change = (n: number) =>
      store.transaction(
        async (tx) => {
          const [payment] = await tx.paymentsForChange({ chainId: 1, txHash: hash(n) })
          if (payment === undefined) throw new Error(`Payment ${n} is not stored.`)
          expect(await tx.findUpdates([`u${n}`])).toEqual([])
          const update = fixtures.update({ id: `u${n}`, txHash: hash(n) })
          await tx.insertUpdates([fixtures.decided(payment, { update, version: 2 })])
          await fixtures.setStatus(
            tx,
            payment.id,
            fixtures.getStatus(2, { state: n % 2 === 0 ? 'success' : 'pending' }),
          )
          await tx.insertSnapshots([fixtures.makeSnapshot(payment, 2)])
        },
        { searches: true },
      )
    try {
      await migrateApart(server.connectionString)
      await store.integrations.insert(integration())
      await store.transaction((tx) => indexPayments(tx, [primary({ txHash: hash(0) }), primary({ txHash: hash(1) })]))
      await change(0)
      await change(1)
      const payments = Array.from({ length: 2_000 }, (_, n) => primary({ txHash: hash(n + 2) }))
      await store.transaction((tx) => indexPayments(tx, payments))
      await change(2)

      const { rows: kept } = await pool.query<{ name: string; types: number; statement: string }>(
        'select name, cardinality(parameter_types) as types, statement from pg_prepared_statements',
      )
      await pool.query('set plan_cache_mode = force_generic_plan')
      const found = new Set<string>()
      for (const { name, types, statement } of kept) {
        const nulls = Array(types).fill('null').join(', ')
        const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `explain (format json) execute "${name}"(${nulls})`,
        )
        const scans = rows.flatMap((row) => getScans(row['QUERY PLAN'][0].Plan))
        for (const scan of scans) {
          expect(scan, statement).not.toMatch(/^(Seq|Bitmap) .*Scan of/)
          if (scan.startsWith('Index')) found.add(scan.replace(/^Index (Only )?Scan of /, ''))
        }
      }
      expect([...found].sort()).toEqual([
        'integrations by integrations_pkey',
        'payments by payments_pkey',
        'payments by payments_tx_hash_chain_id_ordinal_key',
        'statuses by statuses_pkey',
        'unsettled by unsettled_pkey',
        'updates by updates_pkey',
      ])
    } finally {
      await pool.end()
      await server.remove()
    }
  },
)
