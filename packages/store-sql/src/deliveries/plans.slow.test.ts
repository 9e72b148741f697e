import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import { postgresScans, sqliteSteps } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import type { DueQuery, Engine, Lane } from '../engine.js'
import { compile, compileBulk } from '../internal/statements.js'
import { parseKey, toHex } from '../internal/values.js'
import { candidatesText, lastAddress } from './candidates.js'
import { lockText } from './claim.js'
import { countQuery, listQuery, missingQuery, newestQuery } from './delivery-lists.js'
import { earliestQuery } from './delivery-store.js'
import { lockLeasedText, retryColumns, retryText } from './settle.js'

const { address, hash, indexAll, integration, primary } = fixtures

const backlog = 20_000
const limit = 50
const backlogName = 'the number of pending deliveries'
/** One is disabled and has half of the backlog, which is also the oldest; four share the rest. */
const shops = [0, 1, 2, 3, 4].map((n) => address(0xa0 + n))

async function fill(store: Store): Promise<void> {
  for (const [n, own] of shops.entries())
    await fixtures.insertIntegration(store, integration({ address: own, enabled: n > 0 }))
  const owner = (n: number) => shops[n < backlog / 2 ? 0 : 1 + (n % 4)] ?? ''
  const given = Array.from({ length: backlog }, (_, n) => primary({ txHash: hash(n), integrationAddress: owner(n) }))
  await indexAll(store, given)
}

const scan = (lane: Lane) => ({ lane, after: '', upTo: lastAddress })
const first: DueQuery = {
  scans: [scan(0)],
  includesProbes: false,
  maxIntegrations: limit,
  maxPerIntegration: limit,
  excludedIds: [],
}
const retries: DueQuery = { ...first, scans: [scan(1), scan(2)], includesProbes: true }
const due = ({ dialect }: Engine, query: DueQuery) => ({
  compile: () => {
    const { sql: text, parameters } = compile(dialect, candidatesText(dialect, query))
    return { sql: text, parameters }
  },
})

const queries = (engine: Engine) => ({
  'the due first attempts': due(engine, first),
  'the due retries, probes and replays': due(engine, retries),
  'the due but for some': due(engine, { ...first, excludedIds: Array.from({ length: 20 }, (_, n) => backlog / 2 + n) }),
  'the next due': { compile: () => earliestQuery(engine.dialect) },
  [backlogName]: { compile: () => engine.dialect.pending(limit).compile(engine.read) },
})

/** One endpoint is blocked, the block of another one is over; each has 2,500 due deliveries. */
async function block(engine: Engine): Promise<void> {
  const [, first, second] = shops
  const failing = { failures: 5, blocks: 1, failing_since: 0 }
  const rows = [
    { ...failing, integration: parseKey(first ?? ''), blocked_until: 9e12 },
    { ...failing, integration: parseKey(second ?? ''), blocked_until: 0 },
  ]
  await engine.transaction((db) => db.insertInto('endpoints').values(rows).execute())
}

/** Looks up 32 claimed deliveries by their ids. */
const byId = ({ dialect }: Engine) => {
  const ids = Array.from({ length: 32 }, (_, n) => backlog / 2 + 7 * n)
  return {
    'the locked deliveries of a claim': { compile: () => compile(dialect, lockText(dialect, ids, dialect.moment())) },
    'the locked deliveries of a settle': { compile: () => compile(dialect, lockLeasedText(dialect, ids)) },
  }
}

const dueSearch = /^SEARCH q (EXISTS )?USING COVERING INDEX outbox_due \(lane=\? AND integration=\? AND due_at<\?\)$/

/** The listings of pending deliveries. */
const pendingQueries = ({ read }: Engine) => ({
  list: listQuery(read, { status: 'pending', limit }),
  'rest of a list': listQuery(read, { status: 'pending', afterId: String(backlog - 3), limit }),
  newest: newestQuery(read, { status: 'pending' }),
  count: countQuery(read, { status: 'pending' }),
})

/** All but the newest five are delivered. */
async function deliverMost(engine: Engine): Promise<void> {
  const { dialect } = engine
  const last = backlog - 5
  await engine.transaction((db) => db.deleteFrom('outbox').where('id', '<=', last).execute())
  await engine.transaction((db) =>
    sql`insert into ${sql.raw(dialect.name('attempts'))} (delivery_id, started_at, latency_ms, number, status, replay)
      select id, created_at, 9, 1, 204, 0 from ${sql.raw(dialect.name('snapshots'))}
      where id <= ${last}`.execute(db),
  )
}

/** The tests that have one expectation on both databases, in the order in which they change the rows. */
const claims = (engine: () => Engine) =>
  test('10,000 older deliveries of a disabled integration do not hide another one from a claim', async () => {
    expect(await createStore(engine()).deliveries.claim({ limit: 1, leaseMs: 1 })).toMatchObject([
      { txHash: hash(backlog / 2) },
    ])
  })
const endedWaits = (engine: () => Engine) =>
  test('every delivery that waits for longer than any may is due after one look, however many there are', async () => {
    await engine().transaction((db) => db.updateTable('outbox').set({ due_at: 9e12 }).execute())
    const { deliveries } = createStore(engine())
    const longest = { leaseMs: 600_000, retryMs: [3_600_000], blockMs: 9e12 }
    for (const ended of [backlog, 0]) expect(await deliveries.resetOverlongWaits(longest)).toBe(ended)
  })

onFilledDatabases(fill, {
  SQLite(engine) {
    test('one search per integration, and never a scan of the backlog', async () => {
      for (const [name, query] of Object.entries(queries(engine()))) {
        const plan = await sqliteSteps(engine(), query)
        const search =
          name === backlogName
            ? /^SEARCH d USING COVERING INDEX outbox_due \(lane=\? AND integration=\?\)$/
            : /USING COVERING INDEX outbox_due \(lane=\? AND integration>\?\)$/
        const searches = plan.filter((step) => /^SEARCH q /.test(step))
        for (const step of searches) expect(step, name).toMatch(dueSearch)
        const found = plan.some((step) => search.test(step))
        expect(found, `${name}: ${plan.join('; ')}`).toBe(true)
        const scans = plan.filter((step) => /^SCAN (outbox|d|q)\b/.test(step))
        expect(scans, name).toEqual([])
      }
    })

    test('claimed deliveries are looked up by their ids', async () => {
      for (const [name, query] of Object.entries(byId(engine()))) {
        const plan = await sqliteSteps(engine(), query)
        const steps = plan.filter((step) => / d\b|^SCAN /.test(step)).sort()
        const search = 'SEARCH d USING INTEGER PRIMARY KEY (rowid=?)'
        expect(steps, name).toEqual(['SCAN json_each VIRTUAL TABLE INDEX 1:', search])
      }
    })

    test('retries are settled by their ids', async () => {
      const { dialect } = engine()
      const rows = Array.from({ length: 32 }, (_, n) => [1, 1, 0, backlog / 2 + 7 * n])
      const compiled = compileBulk(dialect, retryColumns, rows, () => retryText(dialect))
      const plan = await sqliteSteps(engine(), { compile: () => compiled })
      expect(plan.filter((step) => / d\b/.test(step))).toEqual(['SEARCH d USING INTEGER PRIMARY KEY (rowid=?)'])
    })

    claims(engine)

    test('a blocked endpoint has one candidate after its block, and none during it', async () => {
      await block(engine())
      const count = async (query: DueQuery) => {
        const found = await engine().rows(due(engine(), query).compile())
        const integrations = found.values.map((values) =>
          toHex(values[found.columns.indexOf('integration')] as Uint8Array),
        )
        return shops.map((shop) => integrations.filter((own) => own === shop).length)
      }
      expect(await count({ ...first, maxPerIntegration: 500, maxIntegrations: 1_000 })).toEqual([0, 0, 0, 500, 500])
      expect(await count(retries)).toEqual([0, 0, 1, 0, 0])
    })

    endedWaits(engine)

    test('a few pending deliveries are listed and counted without a scan of the delivered ones', async () => {
      await deliverMost(engine())
      for (const [name, query] of Object.entries(pendingQueries(engine()))) {
        const plan = await sqliteSteps(engine(), query)
        expect(plan[0], name).toMatch(/^(SCAN|SEARCH) q\b/)
        expect(plan.slice(1, 3), name).toEqual([
          'SEARCH d USING INTEGER PRIMARY KEY (rowid=?)',
          'SEARCH p USING INTEGER PRIMARY KEY (rowid=?)',
        ])
        // A list reads once where the closed segments end.
        expect(plan.slice(3), name).toEqual(/list/.test(name) ? ['SCALAR SUBQUERY 1', 'SEARCH closed'] : [])
      }
    })

    test('a part of a check for missing deliveries reads each of its versions by key', async () => {
      const plan = await sqliteSteps(engine(), missingQuery(engine().read, backlog, limit))
      expect(plan.filter((step) => /^(SCAN|SEARCH) /.test(step)).sort()).toEqual([
        'SCAN d',
        'SEARCH closed',
        'SEARCH closed',
        'SEARCH q USING INTEGER PRIMARY KEY (rowid=?)',
        'SEARCH snapshots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
        'SEARCH success USING INDEX sqlite_autoindex_attempts_1 (delivery_id=?)',
      ])
    })
  },

  PostgreSQL(engine) {
    for (const statistics of ['none yet', 'fresh'] as const)
      test(`touching no more than the limit per integration, with statistics: ${statistics}`, async () => {
        if (statistics === 'fresh') await analyze(engine())
        for (const [name, query] of Object.entries(queries(engine()))) {
          const scans = await postgresScans(engine(), query)
          const found = scans.filter(({ table }) => table === 'outbox')
          expect(found.length, name).toBeGreaterThan(0)
          for (const { type, touched } of found) {
            expect(type, name).toMatch(/^Index (Only )?Scan$/)
            expect(touched, name).toBeLessThanOrEqual(limit * shops.length)
          }
        }
        for (const [name, query] of Object.entries(byId(engine())))
          for (const plans of ['custom', 'generic'] as const) {
            const scans = await postgresScans(engine(), query, plans)
            const found = scans.filter(({ table }) => table === 'outbox' || table === 'snapshots')
            expect(found.length, name).toBeGreaterThan(0)
            for (const { index, touched } of found) {
              expect(index, name).toMatch(/^(outbox_pkey|snapshots_0_pkey|snapshots_0_version)$/)
              expect(touched, name).toBeLessThanOrEqual(32)
            }
          }
      })

    test('a scan ends once it has enough: later integrations are not read', async () => {
      const query = due(engine(), { ...first, maxIntegrations: 1, maxPerIntegration: 3 })
      const scans = await postgresScans(engine(), query, 'generic')
      const touched = scans.filter(({ table }) => table === 'outbox').reduce((sum, scan) => sum + scan.touched, 0)
      // A step to the disabled integration, a step to the next one, and three deliveries of it.
      expect(touched).toBe(5)
    })

    claims(engine)

    for (const plans of ['custom', 'generic'] as const)
      test(`of a blocked endpoint only the probe after its block is read, with plans: ${plans}`, async () => {
        if (plans === 'custom') await block(engine())
        for (const [query, most] of [
          // Two open endpoints up to the limit, and for each shop a step of the scan and a search; averages are
          // rounded.
          [first, 2 * limit + 2 * shops.length + 2],
          [retries, 2 * shops.length],
        ] as const) {
          const scans = await postgresScans(engine(), due(engine(), query), plans)
          const found = scans.filter(({ table }) => table === 'outbox')
          expect(new Set(found.map(({ type }) => type))).toEqual(new Set(['Index Only Scan']))
          expect(found.reduce((sum, { touched }) => sum + touched, 0)).toBeLessThan(most)
        }
      })

    endedWaits(engine)

    test('a few pending deliveries are listed and counted without a scan of the delivered ones', async () => {
      await deliverMost(engine())
      await analyze(engine())
      for (const [name, query] of Object.entries(pendingQueries(engine())))
        for (const { table, touched } of await postgresScans(engine(), query))
          if (table !== 'outbox') expect(touched, `${name}: ${table}`).toBeLessThanOrEqual(5)
    })

    test('a part of a check for missing deliveries touches each of its versions by key', async () => {
      const query = missingQuery(engine().read, backlog, limit)
      for (const plans of ['custom', 'generic'] as const) {
        const scans = await postgresScans(engine(), query, plans)
        const tables = new Set(scans.map(({ table }) => table))
        expect(tables).toEqual(new Set(['snapshots', 'outbox', 'attempts', 'segments']))
        for (const { table, type, touched } of scans) {
          if (table !== 'segments') expect(type, table).toMatch(/^(Index|Bitmap Heap) /)
          expect(touched, table).toBeLessThanOrEqual(limit)
        }
      }
    })
  },
})
