import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { beginSegment } from '../history/segments.js'
import { createPartitions, getFollowingSegment } from '../schema/partitions.js'
import { createPostgresEngine } from './postgres-engine.js'

const { answered, claimOne, hash, indexed, settleOne } = fixtures
const kinds = ['attempts', 'deliveries'] as const

onPostgres('segments of PostgreSQL', ({ connectionString, connect, pool: openPool, admin, nextSchema, onEnd }) => {
  function openEngine(schema: string, address = connectionString()): Engine {
    const engine = createPostgresEngine(openPool({ connectionString: address, max: 6 }), { schema })
    onEnd(() => engine.close())
    return engine
  }

  async function open() {
    const schema = nextSchema()
    const engine = openEngine(schema)
    const store = createStore(engine)
    await store.migrate()
    await fixtures.insertIntegration(store)
    const { history } = store
    if (history === null) throw new TypeError('There is no history.')
    const deliver = async (n: number) => {
      await indexed(store, { txHash: hash(n) })
      await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    }
    return { schema, engine, store, history, deliver }
  }

  async function count(text: string): Promise<number> {
    const { rows } = await admin().query<{ found: string }>(`select count(*) as found from ${text}`)
    return Number(rows[0]?.found)
  }

  /** Valid indexes of a table that begin with a column. */
  const getIndexes = (table: string, column: string) =>
    count(`pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = '${table}'::regclass and i.indisvalid and a.attname = '${column}'`)

  test('an index of a table in segments is made in each of them, and later ones have it', async () => {
    const { schema, engine, store, history, deliver } = await open()
    await deliver(1)
    await history.beginSegment()
    // As an interrupted run leaves them: one of the parent without its parts, and one that is not valid.
    await admin().query(`create index attempts_started on only ${schema}.attempts (started_at)`)
    await admin().query(`create index attempts_1_attempts_started on ${schema}.attempts_1 (started_at)`)
    await admin().query(`update pg_index set indisvalid = false
        where indexrelid = '${schema}.attempts_1_attempts_started'::regclass`)
    expect(await engine.hasIndex('attempts_started')).toBe(false)
    await store.console.prepare()
    expect(await engine.hasIndex('attempts_started')).toBe(true)
    await history.beginSegment()
    await deliver(2)
    for (const table of ['attempts_0', 'attempts_1', 'attempts_2'])
      expect(await getIndexes(`${schema}.${table}`, 'started_at'), table).toBe(1)
    await store.console.prepare()
    expect((await store.console.attempts({ since: 0, limit: 9 })).length).toBe(2)
  })

  test('a begin that was interrupted is continued, and no row is older than its segment', async () => {
    const { schema, engine, history, deliver } = await open()
    await deliver(1)
    const following = getFollowingSegment({ number: 0, first: 0 })
    for (const statement of createPartitions(engine.dialect.name, following)) await admin().query(statement)
    await deliver(2)
    await admin().query(`select setval(pg_get_serial_sequence('${schema}.snapshots', 'id'), ${following.first}, false)`)
    await deliver(3)
    // The third delivery has an id of the new segment, which was not recorded yet.
    await beginSegment(engine)
    await deliver(4)
    expect(await history.segments()).toHaveLength(2)
    expect(await Promise.all([0, 1].map((segment) => history.count('deliveries', segment)))).toEqual([2, 2])
  })

  test('a partitioned table that was analyzed has the estimated rows of its segments', async () => {
    const { schema, engine, deliver } = await open()
    await deliver(1)
    await admin().query(`analyze ${schema}.attempts`)
    expect(await engine.dialect.estimateRows(engine.read, 'attempts')).toBe(1)
  })

  test('a statement that inserts while a segment begins is not disturbed', async () => {
    const { schema, history } = await open()
    const writer = await connect()
    const inserting = writer.query(`insert into ${schema}.snapshots (payment_id, created_at, version, body)
        select n, 1, 1, '0'::bytea from (select n, pg_sleep(0.2) from generate_series(1, 5) n) slow`)
    const writing = `pg_locks where relation = '${schema}.snapshots'::regclass and mode = 'RowExclusiveLock'`
    while ((await count(writing)) === 0) await new Promise(setImmediate)
    await history.beginSegment()
    await inserting
    const counts = await Promise.all([0, 1].map((segment) => history.count('deliveries', segment)))
    expect(counts).toEqual([5, 0])
  })

  test('a segment that somebody reads is removed once they end', async () => {
    const { schema, history, deliver } = await open()
    await deliver(1)
    await history.beginSegment()
    await history.closeSegments(0)
    const [attempts, deliveries] = await Promise.all(kinds.map((kind) => history.part(kind, 0)))
    await admin().query(`begin; select from ${schema}.attempts`)
    const removing = attempts?.remove()
    await deliver(2)
    await admin().query('commit')
    await removing
    await deliveries?.remove()
    const parts = `pg_class where relname in ('snapshots_0', 'attempts_0') and relnamespace = '${schema}'::regnamespace`
    expect(await count(parts)).toBe(0)
    expect(await count(`${schema}.snapshots`)).toBe(1)
  })

  test('a role with rights on the tables needs none on their segments', async () => {
    const { schema, history, store, deliver } = await open()
    const role = `worker_${schema}`
    await admin().query(`create role ${role} login password 'worker'`)
    await admin().query(`grant usage on schema ${schema} to ${role}`)
    const { rows } = await admin().query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
         where c.relnamespace = '${schema}'::regnamespace and c.relkind in ('r', 'p', 'S') and not c.relispartition`,
    )
    for (const { name } of rows) await admin().query(`grant all on ${name} to ${role}`)
    await deliver(1)
    await history.beginSegment()
    const worker = createStore(openEngine(schema, connectionString(`${role}:worker`)))
    await indexed(worker, { txHash: hash(2) })
    await settleOne(worker, await claimOne(worker), answered, { kind: 'delivered' })
    const replay = { status: 'delivered', limit: 9 } as const
    expect(await worker.transaction((tx) => tx.replayDeliveries(replay))).toMatchObject({ replayed: 2 })
    expect(await store.deliveries.list({ limit: 9 })).toHaveLength(2)
  })
})
