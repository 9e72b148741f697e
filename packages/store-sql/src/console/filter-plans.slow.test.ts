/** Every filter of a list that a page can ask for reads a bounded part of one index, on both databases. */
import type { ConsolePaymentFilter, DeliveryFilter } from '@payment-integration/core/internal'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { fillConsoleRows, getPosition, getTime, rareChain, rows, shops } from '../../test/support/console-rows.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import { type Compiled, postgresScans, sqliteSteps } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { listQuery, withIdRange } from '../deliveries/delivery-lists.js'
import { type Engine, withDialect } from '../engine.js'
import * as ofDeliveries from './delivery-reads.js'
import * as ofPayments from './payment-keys.js'

const { hash } = fixtures
const [limit, size] = [50, 100]

/** Each combination of one value of every field. */
function combinations<Fields extends Record<string, readonly unknown[]>>(fields: Fields) {
  let all: Record<string, unknown>[] = [{}]
  for (const [name, values] of Object.entries(fields))
    all = all.flatMap((each) => values.map((value) => (value === undefined ? each : { ...each, [name]: value })))
  return all
}

const paymentFilters = [
  ...combinations({
    state: [undefined, null, 'success', 'failure'],
    integrationAddress: [undefined, null, shops[0]],
    chainId: [undefined, rareChain],
    invoice: [undefined, { amount: '1.00', currency: 'EUR' }],
    since: [undefined, getTime(10)],
    until: [undefined, getTime(9_000)],
    before: [undefined, getPosition(8_000)],
  }),
  { integrationAddress: shops[0], memo: '0x6f' },
] as (ConsolePaymentFilter & { readonly before?: ReturnType<typeof getPosition> })[]

const deliveryFilters = combinations({
  status: [undefined, 'pending', 'delivered', 'exhausted', 'superseded'],
  integrationAddress: [undefined, shops[0]],
  chainId: [undefined, rareChain],
  since: [undefined, getTime(10)],
  until: [undefined, getTime(9_000)],
}) as DeliveryFilter[]

const range = { from: 10, to: 9_000 }

onFilledDatabases(fillConsoleRows, {
  SQLite(engine) {
    const plan = (query: Compiled) => sqliteSteps(engine(), query)

    test('payments are searched by their bounds in the index of the filter, and are in its order', async () => {
      for (const filter of paymentFilters) {
        const steps = await plan(ofPayments.keyQuery(engine().read, filter, size))
        const { state, integrationAddress, since, until, before } = filter
        const index =
          integrationAddress !== undefined ? 'payments_page' : state === 'failure' ? 'statuses_state' : 'payments_time'
        const told = `${JSON.stringify(filter)}: ${steps.join('; ')}`
        expect(steps, told).toHaveLength(1)
        expect(steps[0], told).toContain(index)
        if (since !== undefined) expect(steps[0], told).toMatch(/block_timestamp(,\w+)?\)?>/)
        if (until !== undefined || before !== undefined) expect(steps[0], told).toMatch(/block_timestamp(,\w+)?\)?</)
      }
    })

    test('deliveries are searched by both ids, in the index of the filter, and are in its order', async () => {
      for (const filter of deliveryFilters) {
        const steps = await plan(ofDeliveries.keyQuery(engine().read, filter, range, size))
        const { status, integrationAddress } = filter
        const expected =
          integrationAddress !== undefined
            ? 'SEARCH snapshots USING INDEX snapshots_integration (integration=? AND id>? AND id<?)'
            : status === 'pending'
              ? 'SEARCH outbox USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'
              : status === 'exhausted' || status === 'superseded'
                ? 'SEARCH snapshots USING INDEX snapshots_undelivered (undelivered=? AND id>? AND id<?)'
                : 'SEARCH snapshots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)'
        // A pending delivery reads two columns of its snapshot.
        const ofSnapshot = /^(CORRELATED SCALAR SUBQUERY \d|SEARCH s USING INTEGER PRIMARY KEY \(rowid=\?\))$/
        const others = steps.filter((step) => !ofSnapshot.test(step))
        expect(others, JSON.stringify(filter)).toEqual([expected])
      }
    })

    test('rows are found by their keys', async () => {
      const { read } = engine()
      for (const query of [
        ...paymentFilters.map((filter) => ofPayments.pageQuery(read, filter, size, limit)),
        ...deliveryFilters.map((filter) => ofDeliveries.pageQuery(engine().read, filter, range, size, limit)),
      ]) {
        const steps = await plan(query)
        const scans = steps.filter((step) => /^SCAN (?!m$|k$|(payments|statuses) USING )/.test(step))
        expect(scans, steps.join('; ')).toEqual([])
      }
    })

    boundedPages(engine)
  },

  PostgreSQL(engine) {
    test('a step touches no more rows of a table than it examines, and those of the page', async () => {
      await analyze(engine())
      const { read } = engine()
      const queries = [
        ...paymentFilters.map((filter) => [filter, ofPayments.pageQuery(read, filter, size, limit)] as const),
        ...deliveryFilters.map(
          (each) => [each, ofDeliveries.pageQuery(engine().read, each, range, size, limit)] as const,
        ),
      ]
      // The row of the position and the one that ends a block time are read too.
      for (const [filter, query] of queries)
        for (const { table, touched, index } of await postgresScans(engine(), query))
          expect(touched, `${JSON.stringify(filter)}: ${table} by ${index}`).toBeLessThanOrEqual(size + 2)
    })

    test('deliveries of an integration and a time are found by their ids', async () => {
      // Those of a minute at each end may be read too.
      const { dialect, read } = engine()
      await sql`update ${sql.raw(dialect.name('snapshots'))} set created_at = ${fixtures.epoch} + id * 60`.execute(read)
      const times = { since: fixtures.epoch + 3_000 * 60, until: fixtures.epoch + 3_500 * 60 }
      const query = await withIdRange(read, { integrationAddress: shops[1], ...times })
      const scans = await postgresScans(engine(), listQuery(read, { ...query, limit: rows }))
      const touched = scans.filter(({ table }) => table === 'snapshots').map((scan) => scan.touched)
      expect(touched).toEqual([expect.any(Number)])
      expect(touched[0]).toBeLessThanOrEqual(500 + 2 * 1_000 + 2)
    })

    test('the planner expects more deliveries of an integration than a step skips, so that it does not sort them', async () => {
      const skipped = 3 * size
      for (const integrationAddress of shops) {
        const query = ofDeliveries.keyQuery(engine().read, { integrationAddress }, range, 2, skipped)
        const [scan] = await postgresScans(engine(), query)
        expect(scan?.touched, integrationAddress).toBeLessThanOrEqual(skipped + 2)
        expect(scan?.estimated, integrationAddress).toBeGreaterThan(skipped)
      }
    })

    boundedPages(engine)
  },
})

/** A page that ends early goes on where it ended. */
function boundedPages(engine: () => Engine): void {
  test('a rare payment is found after pages that examine 5,000 payments each', async () => {
    const { console: reads } = createStore(engine())
    const first = await reads.payments({ chainId: rareChain, limit })
    expect([first.rows, first.isCut, first.next]).toEqual([[], true, getPosition(5_000)])
    const second = await reads.payments({ chainId: rareChain, limit, before: first.next ?? undefined })
    expect(second).toMatchObject({ isCut: false, next: null })
    expect(second.rows.map(({ txHash }) => txHash)).toEqual(Array.from({ length: 10 }, (_, n) => hash(9 - n)))
  })

  test('a page continues where the first step ended', async () => {
    const { console: reads } = createStore(engine())
    const found = await reads.payments({ state: null, limit: 200 })
    expect([found.rows.length, found.isCut]).toEqual([101, true])
    const failed = await reads.payments({ state: 'failure', integrationAddress: shops[0], chainId: 1, limit: 400 })
    const ids = failed.rows.map(({ id }) => Number(id))
    expect([ids.length, new Set(ids).size, ids.toSorted((a, b) => b - a)]).toEqual([400, 400, ids])
  })

  test('a page of one integration by status examines its own deliveries alone', async () => {
    const { console: reads } = createStore(engine())
    for (const status of ['exhausted', 'superseded'] as const) {
      const own = await reads.deliveries({ status, integrationAddress: shops[0], limit })
      expect([own.rows.length, own.isCut]).toEqual([limit, false])
      const cut = await reads.deliveries({ status, integrationAddress: shops[1], limit })
      expect([cut.rows, cut.isCut, cut.next]).toEqual([[], true, String(rows - 2_000 + 1)])
    }
    const pending = await reads.deliveries({ status: 'pending', integrationAddress: shops[0], limit })
    expect(pending).toEqual({ rows: [], next: null, isCut: false })
  })

  test('payments that are added between the statements of a page neither repeat nor hide others', async () => {
    const store = createStore(engine())
    const filter = { integrationAddress: shops[0], state: 'failure', chainId: 1 } as const
    const before = await store.console.payments({ ...filter, limit: 600 })
    let added = 0
    // After each statement there are ten more, at the top.
    const withInserts = engine().read.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const newer = Array.from({ length: 10 }, () => {
          added += 1
          const place = { txHash: hash(rows + added), blockTimestamp: getTime(rows + added) }
          return fixtures.primary({ ...place, integrationAddress: shops[0] ?? null })
        })
        await fixtures.indexAll(store, newer)
        return result
      },
    })
    const db = withDialect(withInserts, engine().dialect)
    const found = (await ofPayments.findPage(db, filter, 600)).rows.map(({ id }) => String(id))
    expect(found).toEqual(before.rows.map(({ id }) => id))
  })
}
