/** Guarantees of the PostgreSQL adapter beyond the suite. */
import type pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ListingVersionStore } from '../src/exports/index.js'
import { createPostgresVersionStore, postgresVersionTable } from '../src/exports/postgres.js'
import { busy, collect, createSleep, hold, nothing, other, payment, unwanted } from './payment.js'
import { onDrizzle, onKysely, onPool, onPostgresJs, patience } from './postgres-drivers.js'
import { describePostgres } from './postgres-setup.js'

/** The hashes that a store lists. */
const listed = async (store: Pick<ListingVersionStore<never>, 'list'>) =>
  (await collect(store.list(payment.integrationAddress))).map(({ txHash }) => txHash)

describePostgres(({ connectionString, admin, pool, client }) => {
  const notes = async () => (await admin().query('SELECT note FROM notes ORDER BY id')).rows.map((row) => row.note)
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
    await admin().query('CREATE SCHEMA shop')
    await admin().query(postgresVersionTable('shop.versions'))
    const store = createPostgresVersionStore({ database: pool(), table: 'shop.versions' })
    expect(await store.advance(payment, nothing)).toBe('apply')
    expect((await admin().query('SELECT version FROM shop.versions')).rows).toEqual([{ version: '1' }])
  })

  test('a payment that another process holds for busyTimeoutMs is ERR_VERSION_STORE_BUSY; others are not held up', async () => {
    const store = createPostgresVersionStore({ database: pool(), busyTimeoutMs: 100 })
    await store.advance(payment, nothing)
    const holder = await client()
    await holder.query('BEGIN; SELECT 1 FROM payment_versions FOR UPDATE')
    const locked = { ...busy, waitedFor: 'lock', cause: { code: '55P03' } }
    const rejected = expect(store.advance({ ...payment, version: 2 }, unwanted)).rejects.toMatchObject(locked)
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
    const clock = { now: () => 0, sleep: createSleep().sleep }
    await createPostgresVersionStore({ database, clock }).advance(payment, async (tx) => {
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
    const options = { max: 1, options: '-c default_transaction_isolation=serializable' }
    const open = () => createPostgresVersionStore({ database: pool(options), ...patience })
    const stores = Array.from({ length: 20 }, open)
    const decisions = await Promise.all(stores.map((store) => store.advance(payment, note('once'))))
    expect(decisions.sort()).toEqual(['apply', ...Array(19).fill('duplicate')])
    expect(await notes()).toEqual(['once'])
  })

  test('effects that wait for each other end in a deadlock of one, whose delivery can be repeated', async () => {
    await admin().query("INSERT INTO notes (note) VALUES ('x'), ('y')")
    const store = createPostgresVersionStore({ database: pool() })
    const lock = (tx: pg.ClientBase, name: string) => tx.query('SELECT 1 FROM notes WHERE note = $1 FOR UPDATE', [name])
    let met = 0
    const both = (first: string, second: string) => async (tx: pg.PoolClient) => {
      await lock(tx, first)
      met++
      if (met <= 2) await expect.poll(() => met).toBeGreaterThanOrEqual(2)
      await lock(tx, second)
    }
    const calls = [store.advance(payment, both('x', 'y')), store.advance(other, both('y', 'x'))]
    const outcomes = await Promise.allSettled(calls)
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(rejected).toMatchObject([{ reason: { code: '40P01' } }])
    const again = [await store.advance(payment, nothing), await store.advance(other, nothing)]
    expect(again.sort()).toEqual(['apply', 'duplicate'])
  })

  describe.each([onPool, onKysely, onDrizzle, onPostgresJs])('$name', (driver) => {
    const open = async () => {
      const opened = await driver.open({ connectionString: connectionString() })
      onTestFinished(async () => void (await opened.close()))
      return opened
    }

    test('an effect that goes on after a failed statement is rejected, and keeps nothing', async () => {
      const { store, run } = await open()
      const call = store.advance(payment, async (tx) => {
        await run(tx, "INSERT INTO notes (note) VALUES ('x')")
        await run(tx, 'SELECT * FROM no_such_table').catch(nothing)
      })
      const code = driver === onPostgresJs ? '42P01' : 'ERR_TRANSACTION_FAILED'
      await expect(call).rejects.toMatchObject({ code })
      expect([await notes(), await store.current(payment)]).toEqual([[], undefined])
      expect(await store.advance(payment, nothing)).toBe('apply')
    })

    test('an effect that ends the transaction is rejected, whether it throws or not', async () => {
      const { store, run } = await open()
      const ended = { code: 'ERR_TRANSACTION_ENDED' }
      const end = (ending: string, cause?: Error) =>
        store.advance(payment, async (tx) => {
          await run(tx, ending)
          if (cause) throw cause
        })
      for (const ending of ['ROLLBACK', 'ROLLBACK; BEGIN']) {
        await expect(end(ending)).rejects.toMatchObject(ended)
        const cause = new Error('the warehouse is closed')
        await expect(end(ending, cause)).rejects.toMatchObject({ ...ended, cause })
        expect(await store.current(payment)).toBeUndefined()
      }
      // The version was stored before the effect began, and this keeps it.
      await expect(end('COMMIT')).rejects.toMatchObject(ended)
      expect(await store.current(payment)).toBe(1)
      expect(await store.advance({ ...payment, version: 2 }, nothing)).toBe('apply')
    })

    test('in a transaction of yours an effect that fails undoes its own work alone, and you can go on', async () => {
      const { store, run, begin } = await open()
      const insert = (text: string) => (tx: pg.PoolClient) =>
        run(tx, `INSERT INTO notes (note) VALUES ('${text}')`).then(nothing)
      const failure = new Error('not yet')
      await begin(async (tx) => {
        await insert('yours')(tx)
        const failing = store.in(tx).advance(payment, async (inner) => {
          await insert('undone')(inner)
          throw failure
        })
        await expect(failing).rejects.toBe(failure)
        expect(await store.in(tx).current(payment)).toBeUndefined()
        await expect(store.in(tx).advance(payment, insert('yours'))).rejects.toThrow()
        expect(await store.in(tx).advance(other, insert('kept'))).toBe('apply')
        expect(await store.in(tx).advance(other, unwanted)).toBe('duplicate')
        expect([await listed(store.in(tx)), await listed(store)]).toEqual([[other.txHash], []])
      })
      expect(await notes()).toEqual(['yours', 'kept'])
      expect([await store.current(payment), await store.current(other)]).toEqual([undefined, 1])
    })
  })

  describe('in a transaction of yours', () => {
    const begin = async (begins = 'BEGIN') => {
      const store = createPostgresVersionStore({ database: pool() })
      const tx = (await client()) as unknown as pg.PoolClient
      await tx.query(begins)
      return { store, tx, inside: store.in(tx) }
    }

    test.each([
      ['ROLLBACK', undefined, []],
      ['COMMIT', 1, ['yours', 'effect']],
    ])('version and effect are kept with your own work, or undone with it: %s', async (ending, version, kept) => {
      const { store, tx, inside } = await begin()
      await note('yours')(tx)
      expect(await inside.advance(payment, note('effect'))).toBe('apply')
      expect(await inside.advance(payment, unwanted)).toBe('duplicate')
      expect([await inside.current(payment), await store.current(payment)]).toEqual([1, undefined])
      await tx.query(ending)
      expect([await store.current(payment), await notes()]).toEqual([version, kept])
    })

    test('two calls on one transaction take turns', async () => {
      const { tx, inside } = await begin()
      const failure = new Error('the first fails')
      const failing = inside.advance(payment, async (given) => {
        await note('undone')(given)
        throw failure
      })
      const second = inside.advance(other, note('kept'))
      expect(await Promise.allSettled([failing, second])).toMatchObject([{ reason: failure }, { value: 'apply' }])
      await tx.query('COMMIT')
      expect(await notes()).toEqual(['kept'])
    })

    test('a transaction that has failed is ERR_TRANSACTION_FAILED', async () => {
      const { tx, inside } = await begin()
      await tx.query('SELECT * FROM no_such_table').catch(nothing)
      await expect(inside.advance(payment, unwanted)).rejects.toMatchObject({ code: 'ERR_TRANSACTION_FAILED' })
    })

    test('at REPEATABLE READ a version that another transaction stored meanwhile is 40001: begin again', async () => {
      const { store, inside } = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
      await store.advance(payment, nothing)
      await expect(inside.advance({ ...payment, version: 2 }, unwanted)).rejects.toMatchObject({ code: '40001' })
    })
  })

  test.each([
    ['', {}],
    [' on a driver that does not tell', { getTransactionStatus: undefined }],
  ])('on one connection an open transaction of yours is rejected and left alone%s', async (_, change) => {
    const database = Object.assign(await client(), change)
    const store = createPostgresVersionStore({ database })
    await database.query('BEGIN')
    await note('yours')(database)
    await expect(store.advance(payment, unwanted)).rejects.toMatchObject({ code: 'ERR_TRANSACTION_OPEN' })
    await database.query('COMMIT')
    expect(await notes()).toEqual(['yours'])
    expect(await store.advance(payment, nothing)).toBe('apply')
  })

  test('on one connection migrate waits for a running effect', async () => {
    const store = createPostgresVersionStore({ database: await client(), ...patience })
    const { delivery, release } = await hold(store)
    const migrated = store.migrate()
    release()
    expect(await Promise.all([delivery, migrated])).toEqual(['apply', undefined])
  })

  test('copies of a payment take one connection between them, and leave the others to other payments', async () => {
    const database = pool({ max: 2, connectionTimeoutMillis: 300_000 })
    const { delivery, release } = await hold(createPostgresVersionStore({ database, ...patience }))
    // Another store on the same pool stands in the same line.
    const store = createPostgresVersionStore({ database, ...patience })
    const copies = Array.from({ length: 20 }, () => store.advance(payment, unwanted))
    expect(await store.advance(other, nothing)).toBe('apply')
    expect(await store.current(payment)).toBeUndefined()
    expect([database.totalCount, database.waitingCount]).toEqual([2, 0])
    release()
    expect(await Promise.all([delivery, ...copies])).toEqual(['apply', ...Array(20).fill('duplicate')])
  })

  test.each([
    ['on a pool a copy', async () => pool(), payment, 1],
    ['on one connection any call', client, other, undefined],
  ])(
    '%s behind an effect without end is ERR_VERSION_STORE_BUSY after busyTimeoutMs, and has asked for no connection',
    async (_, open, waiting, connections) => {
      const database = (await open()) as pg.Pool
      const { waits, sleep } = createSleep()
      const clock = { now: () => performance.now(), sleep }
      const { delivery, release } = await hold(createPostgresVersionStore({ database, clock }))
      const call = createPostgresVersionStore({ database, clock }).advance(waiting, unwanted)
      await expect.poll(() => waits.map(({ ms }) => ms)).toEqual([3000])
      waits[0]?.end()
      await expect(call).rejects.toMatchObject({ ...busy, waitedFor: 'effect' })
      expect(database.totalCount).toBe(connections)
      release()
      expect(await delivery).toBe('apply')
    },
  )

  test.each([
    [1000, '2s'],
    [9000, '1ms'],
  ])('who waited %d ms for a copy waits the rest of busyTimeoutMs for a lock: %s', async (waitedMs, left) => {
    let time = 0
    const { sleep } = createSleep()
    const store = createPostgresVersionStore({ database: pool(), clock: { now: () => time, sleep } })
    const { delivery, release } = await hold(store)
    let limit: unknown
    const second = store.advance({ ...payment, version: 2 }, async (tx) => {
      limit = (await tx.query("SELECT current_setting('lock_timeout') AS limit")).rows[0].limit
    })
    time = waitedMs
    release()
    expect(await Promise.all([delivery, second])).toEqual(['apply', 'apply'])
    expect(limit).toBe(left)
  })
})
