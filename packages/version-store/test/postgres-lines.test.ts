/** Who waits for whom on a pool: copies of a payment for each other, other payments for nobody. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../store-sql/test/postgres.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}`, version: 1 }
const other = { ...payment, txHash: `0x${'c3'.repeat(32)}` }
const nothing = () => undefined
const unwanted = () => expect.unreachable('an effect ran that must not run')

describe.skipIf(postgresMissing !== null)('PostgreSQL', () => {
  let server: TestDatabase
  let admin: pg.Pool
  beforeAll(async () => {
    server = await createTestDatabase()
    admin = new pg.Pool({ connectionString: server.connectionString })
    await createPostgresVersionStore({ database: admin }).migrate()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.remove()
  })
  beforeEach(async () => void (await admin.query('TRUNCATE payment_versions')))

  const pool = (config: pg.PoolConfig = {}) => {
    const opened = new pg.Pool({ connectionString: server.connectionString, ...config })
    opened.on('error', nothing)
    onTestFinished(() => opened.end())
    return opened
  }
  /** An effect that has begun and waits. */
  const held = async (store: ReturnType<typeof createPostgresVersionStore<pg.Pool>>) => {
    let release: (() => void) | undefined
    const delivery = store.advance(payment, () => new Promise<void>((resolve) => (release = resolve)))
    await expect.poll(() => release).toBeDefined()
    return { delivery, release: () => release?.() }
  }

  test('copies of a payment take one connection between them, and leave the others to other payments', async () => {
    const database = pool({ max: 2, connectionTimeoutMillis: 1000 })
    const { delivery, release } = await held(createPostgresVersionStore({ database }))
    // Another store on the same pool stands in the same line.
    const store = createPostgresVersionStore({ database })
    const copies = Array.from({ length: 20 }, () => store.advance(payment, unwanted))
    expect(await store.advance(other, nothing)).toBe('apply')
    expect(await store.current(payment)).toBeUndefined()
    expect([database.totalCount, database.waitingCount]).toEqual([2, 0])
    release()
    expect(await Promise.all([delivery, ...copies])).toEqual(['apply', ...Array(20).fill('duplicate')])
  })

  test('a copy that waits for busyTimeoutMs is ERR_VERSION_STORE_BUSY, and has asked for no connection', async () => {
    const database = pool()
    const { delivery, release } = await held(createPostgresVersionStore({ database }))
    const waits: { readonly ms: number; readonly end: () => void }[] = []
    const store = createPostgresVersionStore({
      database,
      sleep: (ms) => new Promise((end) => waits.push({ ms, end })),
    })
    const copy = store.advance(payment, unwanted)
    await expect.poll(() => waits.map(({ ms }) => ms)).toEqual([3000])
    waits[0]?.end()
    await expect(copy).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY', status: 503, waitedFor: 'effect' })
    expect(database.totalCount).toBe(1)
    release()
    expect(await delivery).toBe('apply')
  })

  test.each([
    [1000, '2s'],
    [9000, '1ms'],
  ])('who waited %d ms for a copy waits the rest of busyTimeoutMs for a lock: %s', async (waitedMs, left) => {
    let clock = 0
    const store = createPostgresVersionStore({
      database: pool(),
      sleep: () => new Promise(nothing),
      monotonicNow: () => clock,
    })
    const { delivery, release } = await held(store)
    let limit: unknown
    const second = store.advance({ ...payment, version: 2 }, async (tx) => {
      limit = (await tx.query("SELECT current_setting('lock_timeout') AS limit")).rows[0].limit
    })
    clock = waitedMs
    release()
    expect(await Promise.all([delivery, second])).toEqual(['apply', 'apply'])
    expect(limit).toBe(left)
  })
})
