import type { Store } from '@payment-integration/core/ports'
import { expect, test, vi } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { compileChild, startChild } from '../../test/support/child.js'
import { migrationsWithNext } from '../../test/support/next-migration.js'
import { onReleased } from '../../test/support/next-release.js'
import { createSchema, migrate } from './migrate.js'

compileChild('migrate-postgres')

/** Payments that all stores update. */
const sharedPayments = 20
const shared = (n: number) => fixtures.hash(500_000 + n)

/** Indexes payments, changes statuses, claims and settles, looks for a session, one after the other. */
function load(store: Store, firstHash: number) {
  const indexed: string[] = []
  const changed: string[] = []
  let done = 0
  let stopping = false
  const settleAll = async () => {
    const claims = await store.deliveries.claim({ limit: 50, leaseMs: 60_000 })
    for (const claim of claims) {
      const settle = () => fixtures.settleOne(store, claim, fixtures.answered, { kind: 'delivered' })
      let status = await settle()
      // Another process has the row for a moment: a dispatcher repeats it, too.
      while (status === 'locked') status = await settle()
      if (status !== 'delivered') throw new Error(`A delivery is ${status}.`)
    }
    return claims.length
  }
  const change = async (txHash: string) => {
    const version = await fixtures.nextVersion(store, fixtures.facts({ txHash }))
    changed.push(`${txHash} ${version}`)
  }
  const running = (async () => {
    for (let n = 0; !stopping; n += 1) {
      const txHash = fixtures.hash(firstHash + n)
      await fixtures.indexed(store, { txHash })
      indexed.push(txHash)
      await change(txHash)
      await change(shared(n % sharedPayments))
      await settleAll()
      if ((await store.integrations.findSession('none')) !== null) throw new Error('A session appeared.')
      done += 1
    }
    while ((await settleAll()) > 0) {}
  })()
  running.catch(() => undefined)
  return {
    done: () => done,
    /** Resolves after some more operations. */
    async more() {
      const goal = done + 5
      await Promise.race([running, vi.waitUntil(() => done >= goal, { timeout: 600_000, interval: 5 })])
    },
    async stop() {
      stopping = true
      await running
      return { indexed, changed }
    },
  }
}

onReleased('two releases on PostgreSQL', (database) => {
  const migrateNext = (told: string[] = []) =>
    migrate(database().openEngine(), migrationsWithNext, ({ about, event }) => told.push(`${about}: ${event}`))
  const indexState = async () => {
    const client = await database().connect()
    const { rows } = await client.query(`select i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relname = 'payments_made_up'`)
    return rows.map(({ indisvalid }) => indisvalid as boolean)
  }
  /** As if the migrator had said nothing for a whole lease, which takes a quarter of a minute. */
  const endLease = (admin: { query(text: string): Promise<unknown> }) =>
    admin.query("update released.locks set expires_at = 0 where name = 'migration'")
  const indexing = `select pid from pg_stat_activity
      where datname = current_database() and query like 'create index concurrently%' and state = 'active'`
  const unfilled = async () => {
    const client = await database().connect()
    const query = 'select count(*)::int as rows from released.payments where made_up is distinct from id + 7'
    return (await client.query(query)).rows[0]?.rows as number
  }

  test('two processes of the last release work during a migration, then along with the next release, and lose nothing', async () => {
    await database().fill(20_000)
    const [one, two] = [database().openLast(), database().openLast()]
    for (let n = 0; n < sharedPayments; n += 1) await fixtures.indexed(one, { txHash: shared(n) })
    const loads = [load(one, 1_000_000), load(two, 2_000_000)]
    await Promise.all(loads.map((each) => each.more()))
    const before = loads.map((each) => each.done())
    const told: string[] = []
    await migrateNext(told)
    for (const [n, each] of loads.entries()) expect(each.done()).toBeGreaterThan(before[n] ?? Number.NaN)
    expect(told.filter((each) => each.endsWith(': progress')).length).toBeGreaterThan(2)
    const next = database().openNext()
    await next.schema.check()
    await one.schema.check()
    loads.push(load(next, 3_000_000))
    await Promise.all(loads.map((each) => each.more()))
    await one.schema.check()
    const results = await Promise.all(loads.slice(0, 2).map((each) => each.stop()))
    await next.schema.contract()
    await expect(one.schema.check()).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
    await loads[2]?.more()
    results.push(...(await Promise.all(loads.slice(2).map((each) => each.stop()))))

    const changes = results.flatMap(({ changed }) => changed)
    expect(new Set(changes).size).toBe(changes.length)
    const indexed = results.flatMap((each) => each.indexed)
    const client = await database().connect()
    const count = async (query: string) => (await client.query(query)).rows[0]?.count as number
    const snapshots = 'released.snapshots'
    expect(await count('select count(*)::int from released.payments')).toBe(20_000 + sharedPayments + indexed.length)
    expect(await count(`select count(*)::int from ${snapshots}`)).toBe(sharedPayments + indexed.length + changes.length)
    const gaps = `select count(*)::int from (select 1 from ${snapshots} group by payment_id
        having count(*) <> max(version) or count(distinct version) <> count(*)) as gaps`
    expect(await count(gaps)).toBe(0)
    const behind = `select count(*)::int from released.statuses s
        where version <> (select max(version) from ${snapshots} where payment_id = s.payment_id)`
    expect(await count(behind)).toBe(0)
    const undelivered = `select count(*)::int from ${snapshots} where undelivered = 'exhausted'`
    expect(await count(undelivered)).toBe(0)
    expect(await indexState()).toEqual([true])
  })

  test('a process that is killed in a backfill is followed by one that completes it', async () => {
    await database().fill(3_000)
    await database().runSteps(1)
    const other = await database().connect()
    await other.query('begin; select id from released.payments order by id desc limit 1 for update')
    const child = startChild('migrate-postgres', database().connectionString, database().schema)
    const lines: string[] = []
    child.lines.on('line', (line) => lines.push(line))
    await vi.waitUntil(() => lines.includes('fill the column of payments: waiting'), { timeout: 500_000 })
    child.process.kill('SIGKILL')
    expect(await child.ended).toBeNull()
    const { rows } = await other.query('select * from released.schema_versions where version = 201')
    expect(rows[0]).toMatchObject({ phase: 'expand' })
    expect(Number(rows[0]?.position)).toBeGreaterThan(0)
    expect(await unfilled()).toBeGreaterThan(0)
    await other.query('rollback')
    await migrateNext()
    expect(await unfilled()).toBe(0)
    expect(await indexState()).toEqual([true])
  })

  test.each(['goes on', 'is canceled'])(
    'a process is killed while it makes an index, and the statement %s: the next one completes it',
    async (then) => {
      await database().fill(1_000)
      await database().runSteps(2)
      const other = await database().connect()
      await other.query('begin; lock table released.payments in row exclusive mode')
      const child = startChild('migrate-postgres', database().connectionString, database().schema)
      const admin = await database().connect()
      const pids = async () => (await admin.query(indexing)).rows.map(({ pid }) => pid as number)
      await vi.waitUntil(async () => (await pids()).length === 1, { timeout: 500_000 })
      child.process.kill('SIGKILL')
      await child.ended
      await endLease(admin)
      expect(await pids()).toHaveLength(1)
      if (then === 'is canceled') {
        await admin.query('select pg_terminate_backend($1)', await pids())
        await vi.waitUntil(async () => (await pids()).length === 0, { timeout: 500_000 })
        expect(await indexState()).toEqual([false])
      }
      const migrated = migrateNext()
      migrated.catch(() => undefined)
      const tries = `select 1 from pg_stat_activity where datname = current_database()
          and (query like '%pg_stat_progress_create_index%' or query like '% index concurrently%') and pid <> pg_backend_pid()`
      await vi.waitUntil(async () => (await admin.query(tries)).rows.length > 0, { timeout: 500_000 })
      await other.query('rollback')
      await migrated
      expect(await indexState()).toEqual([true])
      await createSchema(database().openEngine(), migrationsWithNext).check()
    },
  )

  test('a migrator that lost its lease continues along with its successor, and each step is done once', async () => {
    await database().fill(2_000)
    const admin = await database().connect()
    let second: Promise<unknown> = Promise.resolve()
    await migrate(database().openEngine(), migrationsWithNext, ({ event, about }) => {
      if (event !== 'begun' || about !== 'fill the column of payments') return
      second = endLease(admin).then(() => migrateNext())
    })
    await second
    expect(await unfilled()).toBe(0)
    expect(await indexState()).toEqual([true])
    await createSchema(database().openEngine(), migrationsWithNext).check()
  })
})
