/** Guarantees of the PostgreSQL adapter beyond the suite. */
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import type { ListingVersionStore } from '../src/exports/index.js'
import { createPostgresVersionStore, type PostgresDatabase, postgresVersionTable } from '../src/exports/postgres.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}`, version: 1 }
const other = { ...payment, txHash: `0x${'c3'.repeat(32)}` }

/** The hashes that a store lists. */
async function listed(store: Pick<ListingVersionStore<never>, 'list'>): Promise<string[]> {
  const hashes: string[] = []
  for await (const { txHash } of store.list(payment.integrationAddress)) hashes.push(txHash)
  return hashes
}
const nothing = () => undefined
const unwanted = () => expect.unreachable('an effect ran that must not run')

describe.skipIf(postgresMissing !== null)('PostgreSQL', () => {
  let server: TestPostgres
  let admin: pg.Pool
  beforeAll(async () => {
    server = await startPostgres()
    admin = openPool()
    await admin.query('CREATE TABLE notes (id bigserial PRIMARY KEY, note text NOT NULL UNIQUE)')
    await createPostgresVersionStore({ database: admin }).migrate()
  })
  afterAll(async () => {
    await admin?.end()
    await server?.remove()
  })
  beforeEach(async () => void (await admin.query('TRUNCATE payment_versions, notes')))

  const openPool = (config: pg.PoolConfig = {}) => {
    const pool = new pg.Pool({ connectionString: server.connectionString, ...config })
    pool.on('error', nothing)
    return pool
  }
  /** A pool that ends with its test. */
  const pool = (config?: pg.PoolConfig) => {
    const opened = openPool(config)
    onTestFinished(() => opened.end())
    return opened
  }
  const client = async () => {
    const opened = new pg.Client({ connectionString: server.connectionString })
    await opened.connect()
    onTestFinished(() => opened.end())
    return opened
  }
  const notes = async () => (await admin.query('SELECT note FROM notes ORDER BY id')).rows.map((row) => row.note)
  const note = (text: string) => (tx: pg.ClientBase) =>
    tx.query('INSERT INTO notes (note) VALUES ($1)', [text]).then(nothing)

  test('without its table a store says what to do, and goes on once it is there', async () => {
    const store = createPostgresVersionStore({ database: pool(), table: 'not_yet' })
    const missing = { code: 'ERR_VERSION_TABLE_MISSING', cause: { code: '42P01' } }
    await expect(store.advance(payment, unwanted)).rejects.toMatchObject(missing)
    await expect(store.current(payment)).rejects.toMatchObject(missing)
    await Promise.all([1, 2, 3, 4, 5].map(() => store.migrate()))
    expect(await store.advance(payment, nothing)).toBe('apply')
    await store.migrate()
    expect(await store.current(payment)).toBe(1)
  })

  test('the published SQL makes the table, in a schema too', async () => {
    await admin.query('CREATE SCHEMA shop')
    await admin.query(postgresVersionTable('shop.versions'))
    const store = createPostgresVersionStore({ database: pool(), table: 'shop.versions' })
    expect(await store.advance(payment, nothing)).toBe('apply')
    expect((await admin.query('SELECT version FROM shop.versions')).rows).toEqual([{ version: '1' }])
  })

  test('a payment that another process holds for busyTimeoutMs is ERR_VERSION_STORE_BUSY; others are not held up', async () => {
    const store = createPostgresVersionStore({ database: pool(), busyTimeoutMs: 100 })
    await store.advance(payment, nothing)
    const holder = await client()
    await holder.query('BEGIN; SELECT 1 FROM payment_versions FOR UPDATE')
    const rejected = expect(store.advance({ ...payment, version: 2 }, unwanted)).rejects.toMatchObject({
      code: 'ERR_VERSION_STORE_BUSY',
      status: 503,
      waitedFor: 'lock',
      cause: { code: '55P03' },
    })
    expect(await store.advance(other, nothing)).toBe('apply')
    await rejected
    await holder.query('ROLLBACK')
    expect(await store.advance({ ...payment, version: 2 }, nothing)).toBe('apply')
  })

  test('its time-outs end with its transaction', async () => {
    const database = pool({ max: 1 })
    const settings = async (on: pg.ClientBase | pg.Pool) =>
      (
        await on.query(`SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('transaction_isolation') AS isolation`)
      ).rows[0]
    let inside: unknown
    await createPostgresVersionStore({ database, monotonicNow: () => 0 }).advance(payment, async (tx) => {
      inside = await settings(tx)
    })
    expect(inside).toEqual({ lock: '3s', statement: '4s', idle: '4500ms', isolation: 'read committed' })
    expect(await settings(database)).toMatchObject({ lock: '0', statement: '0', idle: '0' })
  })

  test('a statement of an effect that takes longer than statementTimeoutMs fails, and nothing is kept', async () => {
    const store = createPostgresVersionStore({ database: pool(), statementTimeoutMs: 50 })
    const call = store.advance(payment, async (tx) => {
      await note('before')(tx)
      await tx.query('SELECT pg_sleep(60)')
    })
    await expect(call).rejects.toMatchObject({ code: '57014' })
    expect([await notes(), await store.current(payment)]).toEqual([[], undefined])
  })

  test('an effect that hangs for idleTimeoutMs loses its connection, not the process, and frees its payment', async () => {
    const store = createPostgresVersionStore({ database: pool({ max: 1 }), idleTimeoutMs: 50 })
    const call = store.advance(payment, async (tx) => {
      await note('hung')(tx)
      await new Promise(nothing)
    })
    await expect(call).rejects.toMatchObject({ code: '25P03' })
    expect(await store.advance(payment, note('again'))).toBe('apply')
    expect(await notes()).toEqual(['again'])
  })

  test('where the database defaults to SERIALIZABLE, copies that race still have one winner and no failure', async () => {
    // A pool for each, as in as many processes: the copies of one process take turns before they reach the database.
    const stores = Array.from({ length: 20 }, () =>
      createPostgresVersionStore({
        database: pool({ max: 1, options: '-c default_transaction_isolation=serializable' }),
      }),
    )
    const decisions = await Promise.all(stores.map((store) => store.advance(payment, note('once'))))
    expect(decisions.sort()).toEqual(['apply', ...Array(19).fill('duplicate')])
    expect(await notes()).toEqual(['once'])
  })

  test('effects that wait for each other end in a deadlock of one, whose delivery can be repeated', async () => {
    await admin.query("INSERT INTO notes (note) VALUES ('x'), ('y')")
    const store = createPostgresVersionStore({ database: pool() })
    const lock = (tx: pg.ClientBase, name: string) => tx.query('SELECT 1 FROM notes WHERE note = $1 FOR UPDATE', [name])
    let met = 0
    const both = (first: string, second: string) => async (tx: pg.PoolClient) => {
      await lock(tx, first)
      met++
      if (met <= 2) await expect.poll(() => met).toBeGreaterThanOrEqual(2)
      await lock(tx, second)
    }
    const outcomes = await Promise.allSettled([
      store.advance(payment, both('x', 'y')),
      store.advance(other, both('y', 'x')),
    ])
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(rejected).toMatchObject([{ reason: { code: '40P01' } }])
    const again = [await store.advance(payment, nothing), await store.advance(other, nothing)]
    expect(again.sort()).toEqual(['apply', 'duplicate'])
  })

  /** A driver: SQL through the transaction of an effect, and a transaction of yours. */
  interface Driver {
    readonly store: Store
    readonly run: (tx: never, sql: string) => Promise<unknown>
    readonly begin: (work: (tx: never) => Promise<void>) => Promise<void>
  }
  const drivers: readonly [string, () => Driver][] = [
    [
      'pg',
      () => {
        const database = pool()
        return {
          store: storeOn(database),
          run: (tx: pg.ClientBase, text) => tx.query(text),
          async begin(work) {
            const tx = await database.connect()
            await tx.query('BEGIN')
            await work(tx as never)
            await tx.query('COMMIT')
            tx.release()
          },
        }
      },
    ],
    [
      'kysely',
      () => {
        const database = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool() }) })
        onTestFinished(() => database.destroy())
        return {
          store: storeOn(database),
          run: (tx: Kysely<object>, text) =>
            tx.executeQuery({
              sql: text,
              parameters: [],
              query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
              queryId: { queryId: 'test' },
            }),
          begin: (work) => database.transaction().execute((tx) => work(tx as never)),
        }
      },
    ],
    [
      'drizzle',
      () => {
        const database = drizzle(pool())
        return {
          store: createPostgresVersionStore({ database, sql: drizzleSql }) as unknown as Store,
          run: async (tx: { execute(text: string): unknown }, text) => tx.execute(text),
          begin: (work) => database.transaction((tx) => work(tx as never)),
        }
      },
    ],
    [
      'postgres.js',
      () => {
        const host = new URL(server.connectionString).searchParams.get('host') ?? ''
        const database = postgres({ host, username: 'postgres', database: 'postgres', onnotice: nothing })
        onTestFinished(() => database.end())
        return {
          store: storeOn(database),
          run: async (tx: postgres.TransactionSql, text) => tx.unsafe(text),
          begin: async (work) => void (await database.begin((tx) => work(tx as never))),
        }
      },
    ],
  ]
  type Store = ReturnType<typeof createPostgresVersionStore<pg.Pool>>
  const storeOn = (database: PostgresDatabase) =>
    createPostgresVersionStore({ database: database as pg.Pool }) as unknown as Store

  test.each(drivers)(
    '%s: an effect that goes on after a failed statement is rejected, and keeps nothing',
    async (name, open) => {
      const { store, run } = open()
      const call = store.advance(payment, async (tx) => {
        await run(tx as never, "INSERT INTO notes (note) VALUES ('x')")
        await run(tx as never, 'SELECT * FROM no_such_table').catch(nothing)
      })
      await expect(call).rejects.toMatchObject(
        name === 'postgres.js' ? { code: '42P01' } : { code: 'ERR_TRANSACTION_FAILED' },
      )
      expect([await notes(), await store.current(payment)]).toEqual([[], undefined])
      expect(await store.advance(payment, nothing)).toBe('apply')
    },
  )

  test.each(drivers)(
    '%s: an effect that ends the transaction is rejected, whether it throws or not',
    async (_, open) => {
      const { store, run } = open()
      const ended = { code: 'ERR_TRANSACTION_ENDED' }
      for (const ending of ['ROLLBACK', 'ROLLBACK; BEGIN']) {
        await expect(store.advance(payment, async (tx) => void (await run(tx as never, ending)))).rejects.toMatchObject(
          ended,
        )
        const cause = new Error('the warehouse is closed')
        const throwing = store.advance(payment, async (tx) => {
          await run(tx as never, ending)
          throw cause
        })
        await expect(throwing).rejects.toMatchObject({ ...ended, cause })
        expect(await store.current(payment)).toBeUndefined()
      }
      // The version was stored before the effect began, and this keeps it.
      await expect(store.advance(payment, async (tx) => void (await run(tx as never, 'COMMIT')))).rejects.toMatchObject(
        ended,
      )
      expect(await store.current(payment)).toBe(1)
      expect(await store.advance({ ...payment, version: 2 }, nothing)).toBe('apply')
    },
  )

  describe('in a transaction of yours', () => {
    test.each(drivers)('%s: an effect that fails undoes its own work alone, and you can go on', async (_, open) => {
      const { store, run, begin } = open()
      const insert = (tx: unknown, text: string) => run(tx as never, `INSERT INTO notes (note) VALUES ('${text}')`)
      const failure = new Error('not yet')
      await begin(async (tx) => {
        await insert(tx, 'yours')
        const failing = store.in(tx).advance(payment, async (inner) => {
          await insert(inner, 'undone')
          throw failure
        })
        await expect(failing).rejects.toBe(failure)
        expect(await store.in(tx).current(payment)).toBeUndefined()
        const broken = store.in(tx).advance(payment, async (inner) => void (await insert(inner, 'yours')))
        await expect(broken).rejects.toThrow()
        expect(await store.in(tx).advance(other, async (inner) => void (await insert(inner, 'kept')))).toBe('apply')
        expect(await store.in(tx).advance(other, unwanted)).toBe('duplicate')
        expect([await listed(store.in(tx)), await listed(store)]).toEqual([[other.txHash], []])
      })
      expect(await notes()).toEqual(['yours', 'kept'])
      expect([await store.current(payment), await store.current(other)]).toEqual([undefined, 1])
    })

    test('version and effect are kept with your own work, or undone with it', async () => {
      const store = createPostgresVersionStore({ database: pool() })
      const tx = await client()
      for (const [ending, kept] of [
        ['ROLLBACK', undefined],
        ['COMMIT', 1],
      ] as const) {
        await tx.query('BEGIN')
        await note('yours')(tx)
        expect(await store.in(tx as never).advance(payment, note('effect'))).toBe('apply')
        expect(await store.in(tx as never).advance(payment, unwanted)).toBe('duplicate')
        expect(await store.in(tx as never).current(payment)).toBe(1)
        expect(await store.current(payment)).toBeUndefined()
        await tx.query(ending)
        expect(await store.current(payment)).toBe(kept)
      }
      expect(await notes()).toEqual(['yours', 'effect'])
    })

    test('two calls on one transaction take turns', async () => {
      const store = createPostgresVersionStore({ database: pool() })
      const tx = await client()
      await tx.query('BEGIN')
      const failure = new Error('the first fails')
      const failing = store.in(tx as never).advance(payment, async (given) => {
        await note('undone')(given)
        throw failure
      })
      const second = store.in(tx as never).advance(other, note('kept'))
      expect(await Promise.allSettled([failing, second])).toMatchObject([{ reason: failure }, { value: 'apply' }])
      await tx.query('COMMIT')
      expect(await notes()).toEqual(['kept'])
    })

    test('a transaction that has failed is ERR_TRANSACTION_FAILED', async () => {
      const store = createPostgresVersionStore({ database: pool() })
      const tx = await client()
      await tx.query('BEGIN')
      await tx.query('SELECT * FROM no_such_table').catch(nothing)
      await expect(store.in(tx as never).advance(payment, unwanted)).rejects.toMatchObject({
        code: 'ERR_TRANSACTION_FAILED',
      })
      await tx.query('ROLLBACK')
    })

    test('at REPEATABLE READ a version that another transaction stored meanwhile is 40001: begin again', async () => {
      const store = createPostgresVersionStore({ database: pool() })
      const tx = await client()
      await tx.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
      await store.advance(payment, nothing)
      await expect(store.in(tx as never).advance({ ...payment, version: 2 }, unwanted)).rejects.toMatchObject({
        code: '40001',
      })
      await tx.query('ROLLBACK')
    })
  })

  describe('on one connection', () => {
    const silent = (connection: pg.Client) => Object.assign(connection, { getTransactionStatus: undefined })

    test.each([
      ['', (connection: pg.Client) => connection],
      [' on a driver that does not tell', silent],
    ])('an open transaction of yours is rejected and left alone%s', async (_, view) => {
      const database = view(await client())
      const store = createPostgresVersionStore({ database })
      await database.query('BEGIN')
      await note('yours')(database)
      await expect(store.advance(payment, unwanted)).rejects.toMatchObject({ code: 'ERR_TRANSACTION_OPEN' })
      await database.query('COMMIT')
      expect(await notes()).toEqual(['yours'])
      expect(await store.advance(payment, nothing)).toBe('apply')
    })

    test('behind an effect that does not end, a call is ERR_VERSION_STORE_BUSY after busyTimeoutMs', async () => {
      const waits: { readonly ms: number; readonly end: () => void }[] = []
      const store = createPostgresVersionStore({
        database: await client(),
        sleep: (ms) => new Promise((end) => waits.push({ ms, end })),
      })
      let release: (() => void) | undefined
      const held = store.advance(payment, () => new Promise<void>((resolve) => (release = resolve)))
      await expect.poll(() => release).toBeDefined()
      const call = store.advance(other, unwanted)
      await expect.poll(() => waits.map(({ ms }) => ms)).toEqual([3000])
      waits[0]?.end()
      await expect(call).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY', waitedFor: 'effect' })
      release?.()
      expect(await held).toBe('apply')
    })
  })
})
