/** Plans that the server keeps for `pg`, and sessions that lose them. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../store-sql/test/postgres.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1' }
const nothing = () => undefined
let payments = 0
/** A payment that no test had before. */
const fresh = (version = 1) => ({ ...payment, txHash: `0x${(++payments).toString(16)}`, version })

describe.skipIf(postgresMissing !== null)('PostgreSQL', () => {
  let server: TestDatabase
  beforeAll(async () => {
    server = await createTestDatabase()
    const pool = new pg.Pool({ connectionString: server.connectionString })
    await createPostgresVersionStore({ database: pool }).migrate()
    await pool.end()
  })
  afterAll(() => server?.remove())

  const openPool = () => {
    const pool = new pg.Pool({ connectionString: server.connectionString, max: 1 })
    onTestFinished(() => pool.end())
    return pool
  }
  const openClient = async () => {
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const databases = [
    ['pool', async () => openPool()],
    ['client', openClient],
  ] as const
  const storeOn = (database: pg.Pool | pg.Client) => createPostgresVersionStore({ database: database as pg.Pool })

  /** As PgBouncer from 1.21 on: statements of the protocol get the pooler's names, and EXECUTE does not find them. */
  const renames = (client: pg.ClientBase) => {
    const query = client.query.bind(client) as (...words: unknown[]) => unknown
    const rename = (first: unknown, ...others: unknown[]) => {
      const given = first as { name?: string }
      return query(typeof given.name === 'string' ? { ...given, name: `pooler_${given.name}` } : first, ...others)
    }
    client.query = rename as typeof client.query
  }

  test.each(databases)(
    '%s: behind a pooler that tracks protocol statements alone, each delivery is handled',
    async (_, open) => {
      const database = await open()
      if (database instanceof pg.Pool) database.on('connect', renames)
      else renames(database)
      const store = storeOn(database)
      const decisions = []
      for (const version of [1, 2, 3, 4, 4, 3])
        decisions.push(await store.advance({ ...fresh(version), txHash: '0xaa' }, nothing))
      expect(decisions).toEqual(['apply', 'apply', 'apply', 'apply', 'duplicate', 'stale'])
      expect(await store.current({ ...payment, txHash: '0xaa' })).toBe(4)
      await database.query('SELECT 1')
      await database.query("DELETE FROM payment_versions WHERE tx_hash = '0xaa'")
    },
  )

  describe.each(['DISCARD ALL', 'DEALLOCATE ALL'])('after %s', (forget) => {
    test.each(databases)('%s: each delivery and each read is handled, and each effect runs once', async (_, open) => {
      const database = await open()
      const store = storeOn(database)
      const one = fresh()
      let effects = 0
      const count = () => void effects++
      for (let round = 1; round <= 4; round++) {
        expect(await store.advance({ ...one, version: round }, count)).toBe('apply')
        await database.query(forget)
        expect(await store.current(one)).toBe(round)
        expect(await store.advance({ ...one, version: round }, count)).toBe('duplicate')
        await database.query(forget)
      }
      expect(effects).toBe(4)
    })

    test('a transaction of yours goes on, and keeps version and effect', async () => {
      const tx = (await openClient()) as unknown as pg.PoolClient
      const store = storeOn(openPool())
      for (let round = 1; round <= 3; round++) {
        const one = fresh()
        await tx.query('BEGIN')
        expect(await store.in(tx).advance(one, nothing)).toBe('apply')
        expect(await store.in(tx).advance(one, nothing)).toBe('duplicate')
        expect(await store.in(tx).current(one)).toBe(1)
        await tx.query('COMMIT')
        expect(await store.current(one)).toBe(1)
        await tx.query(forget)
      }
    })
  })

  test('a session that has a statement of the same name already is no obstacle', async () => {
    const first = openPool()
    await storeOn(first).advance(fresh(), nothing)
    const { rows } = await first.query("SELECT name FROM pg_prepared_statements WHERE name LIKE 'payment%'")
    expect(rows).toHaveLength(1)
    const second = openPool()
    await second.query(`PREPARE ${rows[0].name} AS SELECT 1`)
    expect(await storeOn(second).advance(fresh(), nothing)).toBe('apply')
  })

  test('a pool does not keep a connection whose plans were lost', async () => {
    const pool = openPool()
    const store = storeOn(pool)
    const session = async () => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
    await store.advance(fresh(), nothing)
    const before = await session()
    await pool.query('DISCARD ALL')
    expect(await store.advance(fresh(), nothing)).toBe('apply')
    const after = await session()
    expect(after).not.toBe(before)
    expect(await store.advance(fresh(), nothing)).toBe('apply')
    expect(await session()).toBe(after)
  })

  test('an error 26000 of the effect comes out, and its delivery is not repeated', async () => {
    const store = storeOn(openPool())
    await store.advance(fresh(), nothing)
    let effects = 0
    const call = store.advance(fresh(), async (tx) => {
      effects++
      await tx.query('EXECUTE no_such_statement')
    })
    await expect(call).rejects.toMatchObject({ code: '26000' })
    expect(effects).toBe(1)
  })
})
