import type { Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { startPostgres, type TestPostgres } from '../../test/postgres.js'
import { ask, promote, replicated, startStandby } from '../../test/standby.js'
import { describeOnPostgres } from '../../test/support/on-postgres.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'
import { createPostgresStore, postgresStoreDefaults } from './create-postgres-store.js'
import { createPostgresEngine } from './postgres-engine.js'

const { hash, indexAll, primary: payment, shop } = fixtures
const list = { integrationAddress: shop, limit: 2 }

describeOnPostgres('reads of a standby', () => {
  let primary: TestPostgres
  let standby: TestPostgres
  let writer: Store
  let store: Store
  let reads = 0

  /** An engine that counts the reads of its standby. */
  function openEngine(): Engine {
    const pools = [primary, standby].map(({ connectionString }) => new pg.Pool({ connectionString, max: 4 }))
    const [pool, pooled] = pools
    if (pool === undefined || pooled === undefined) throw new Error('There are two pools.')
    for (const each of pools) each.on('error', () => undefined)
    const engine = createPostgresEngine(pool, {
      schema: postgresStoreDefaults.schema,
      reader: { pool: pooled, maxLagMs: 2_000, answerTimeoutMs: 60_000 },
      end: () => Promise.all(pools.map((each) => each.end())),
    })
    const { reader } = engine
    if (reader === undefined) return engine
    const rows: Engine['rows'] = (query) => {
      reads += 1
      return reader.rows(query)
    }
    return { ...engine, reader: { ...reader, rows } }
  }

  beforeAll(async () => {
    primary = await startPostgres({ fsync: false, settings: replicated })
    writer = createPostgresStore({ connectionString: primary.connectionString })
    await writer.migrate()
    await fixtures.insertIntegration(writer)
    standby = await startStandby(primary)
    store = createStore(openEngine())
  })
  afterAll(async () => {
    await Promise.all([writer?.close(), store?.close()])
    await Promise.all([primary?.remove(), standby?.remove()])
  })
  const index = (n: number) => indexAll(writer, [payment({ txHash: hash(n) })])
  const hashes = async (of: Store) => (await of.payments.list(list)).payments.map(({ txHash }) => txHash)
  /** Whether a listing was read on the standby. */
  const listsOnStandby = async () => {
    const before = reads
    await store.payments.list(list)
    return reads > before
  }

  test('a listing is read there while its lag is within the bound, and on the primary beyond it', async () => {
    await index(1)
    await vi.waitUntil(listsOnStandby, { timeout: 60_000 })
    await ask(standby, 'select pg_wal_replay_pause()')
    await index(2)
    // The bound passes, and the standby still lacks the payment.
    await vi.waitUntil(async () => (await hashes(store)).includes(hash(2)), { timeout: 60_000 })
    expect(await listsOnStandby()).toBe(false)
    await ask(standby, 'select pg_wal_replay_resume()')
    await vi.waitUntil(listsOnStandby, { timeout: 60_000 })
    expect(await hashes(store)).toEqual(await hashes(writer))
  })

  test("no payment is missing by its hash, and no later page lacks payments of the first page's time", async () => {
    await index(3)
    await vi.waitUntil(listsOnStandby, { timeout: 60_000 })
    await ask(standby, 'select pg_wal_replay_pause()')
    await index(4)
    // Until the standby has the payment, the first page may lack it. The reads below never lack it.
    expect(await store.payments.findByHash({ integrationAddress: shop, txHash: hash(4) })).toHaveLength(1)
    expect((await store.payments.transaction({ chainId: 1, txHash: hash(4) })).payments).toHaveLength(1)
    const { next } = await writer.payments.list(list)
    if (next === null) throw new Error('There is a second page.')
    const after = { ...list, after: next }
    expect(await store.payments.list(after)).toEqual(await writer.payments.list(after))
    await ask(standby, 'select pg_wal_replay_resume()')
  })

  test('a standby that is away, and one that was promoted, is not read', async () => {
    await vi.waitUntil(listsOnStandby, { timeout: 60_000 })
    await standby.halt()
    await index(5)
    for (let n = 0; n < 5; n += 1) expect(await hashes(store)).toEqual(await hashes(writer))
    await standby.start()
    await vi.waitUntil(listsOnStandby, { timeout: 60_000 })
    await promote(standby)
    await index(6)
    await vi.waitFor(async () => expect(await hashes(store)).toEqual(await hashes(writer)), { timeout: 60_000 })
    // A promoted standby is read until its last replay is older than the allowed lag.
    await vi.waitUntil(async () => !(await listsOnStandby()), { timeout: 60_000 })
  })

  test('a role without rights to the statistics may measure', async () => {
    await ask(primary, 'create role reader_only login')
    const functions = ['pg_current_wal_insert_lsn()', 'pg_walfile_name(pg_lsn)', 'pg_last_wal_replay_lsn()']
    for (const each of [...functions, 'pg_control_recovery()', 'pg_is_in_recovery()']) {
      const query = `select has_function_privilege('reader_only', '${each}', 'execute') as may`
      expect(await ask(primary, query)).toEqual([{ may: true }])
    }
  })
})
