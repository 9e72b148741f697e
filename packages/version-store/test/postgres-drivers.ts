/** The PostgreSQL drivers behind one shape. @module */
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import type { ConformanceExcuse } from '../src/conformance.js'
import type { ListingVersionStore } from '../src/exports/index.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'

/** The database, and the table of the store. */
export interface Place {
  readonly connectionString: string
  /** @default payment_versions */
  readonly table?: string
}

type Store = ReturnType<typeof createPostgresVersionStore<pg.Pool>>
/** A transaction of any driver, typed as one of `pg`. */
type Tx = pg.PoolClient

/** A store, and how one writes through its transaction. */
export interface Opened<Opening = ListingVersionStore<Tx>> {
  readonly store: Opening
  run(tx: Tx, sql: string): Promise<unknown>
  migrate(): Promise<void>
  close(): Promise<unknown>
}

/** A store of a driver whose caller may begin a transaction. */
export interface OpenedDriver extends Opened<Store> {
  begin<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

/** A driver by name. */
export interface PostgresTestDriver<Opening = Opened> {
  readonly name: string
  open(place: Place): Promise<Opening>
  readonly excuse?: readonly ConformanceExcuse[]
}

export const patience = { busyTimeoutMs: 600_000, statementTimeoutMs: 600_000, idleTimeoutMs: 600_000 }
const connections = 24
const quiet = () => {}

/** Known to its makers as porsager/postgres 1066, 1154, 1208; the correction, 1209, is not released. */
const crashes = 'postgres.js 3.4.9 ends the process when a connection is lost inside of begin()'
const crashExcuse: readonly ConformanceExcuse[] = ['a fault (lost before)', 'a fault (lost after)'].map((test) => ({
  test,
  reason: crashes,
  run: false,
}))

/**
 * Every order and interleaving of three deliveries runs on `pg`: one process, several, and one client. The SQL and the
 * queue are the same under each driver, and begin, commit and roll back show themselves with two deliveries.
 */
const pairsAlone: readonly ConformanceExcuse[] = [
  'every order of small sets of deliveries, one after the other',
  ...['1, 1, 1', '1, 1, 2', '1, 2, 2', '1, 2, 3'].map((set) => `every interleaving of concurrent deliveries of ${set}`),
].map((test) => ({ test, reason: 'it runs on pg', run: false }))

function storeOn(database: unknown, { table }: Place) {
  const options = { database, sql: drizzleSql, table, ...patience } as never
  const store = createPostgresVersionStore(options) as unknown as Store
  return { store, migrate: () => store.migrate() }
}

/** A pool whose lent connections may end: Kysely and Drizzle listen to none of them. */
function openPool({ connectionString }: Place): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: connections })
  pool.on('error', quiet)
  pool.on('connect', (client) => void client.on('error', quiet))
  return pool
}

function openPostgresJs({ connectionString }: Place) {
  const { pathname, searchParams } = new URL(connectionString)
  const options = { username: 'postgres', max: connections, backoff: false, onnotice: quiet }
  return postgres({ host: searchParams.get('host') ?? '', database: pathname.slice(1), ...options })
}

function onPg(pool: pg.Pool, place: Place): OpenedDriver {
  return {
    ...storeOn(pool, place),
    run: (tx, sql) => tx.query(sql),
    async begin(work) {
      const tx = await pool.connect()
      try {
        await tx.query('BEGIN')
        const result = await work(tx)
        await tx.query('COMMIT')
        tx.release()
        return result
      } catch (error) {
        await tx.query('ROLLBACK').then(
          () => tx.release(),
          () => tx.release(true),
        )
        throw error
      }
    },
    close: () => pool.end(),
  }
}

export const onPool: PostgresTestDriver<OpenedDriver> = {
  name: 'pg, a pool',
  async open(place) {
    const pool = new pg.Pool({ connectionString: place.connectionString, max: connections })
    pool.on('error', quiet)
    return onPg(pool, place)
  },
}

/** A pool for each of several processes, which take deliveries in turn: here copies meet in the database alone. */
export const onPools: PostgresTestDriver = {
  name: 'pg, pools of several processes',
  excuse: [
    {
      test: 'an effect that calls its own store',
      reason: 'its call goes to the store of another process, which cannot know of the effect',
      run: false,
    },
    { test: 'a listing that an effect asks', reason: 'another process lists, and need not wait for the effect' },
  ],
  async open(place) {
    const pools = Array.from(
      { length: 8 },
      () => new pg.Pool({ connectionString: place.connectionString, max: connections / 4 }),
    )
    for (const pool of pools) pool.on('error', quiet)
    const opened = pools.map((pool) => onPg(pool, place))
    const [first] = opened as [OpenedDriver]
    let calls = 0
    const next = () => (opened[calls++ % opened.length] ?? first).store
    return {
      ...first,
      store: {
        advance: (payment, effect) => next().advance(payment, effect),
        current: (key) => next().current(key),
        list: (address) => next().list(address),
      },
      close: () => Promise.all(opened.map(({ close }) => close())),
    }
  },
}

/** Reconnects as an application would: a new client, and a new store on it, where the old one is gone. */
export const onClient: PostgresTestDriver = {
  name: 'pg, one client',
  async open(place) {
    const connect = async () => {
      const client = new pg.Client({ connectionString: place.connectionString })
      client.on('error', () => {
        if (current?.client === client) current = undefined
      })
      await client.connect()
      return { client, ...storeOn(client, place) }
    }
    let current: Awaited<ReturnType<typeof connect>> | undefined = await connect()
    const reconnected = async () => {
      current ??= await connect()
      return current.store
    }
    return {
      store: {
        // At once while connected, as the store itself would be called.
        advance: async (payment, effect) => (current?.store ?? (await reconnected())).advance(payment, effect),
        current: async (key) => (current?.store ?? (await reconnected())).current(key),
        async *list(address) {
          yield* (current?.store ?? (await reconnected())).list(address)
        },
      },
      run: (tx, sql) => tx.query(sql),
      migrate: async () => (await reconnected()).migrate(),
      close: async () => current?.client.end(),
    }
  },
}

export const onPostgresJs: PostgresTestDriver<OpenedDriver> = {
  name: 'postgres.js',
  excuse: [...crashExcuse, ...pairsAlone],
  async open(place) {
    const sql = openPostgresJs(place)
    return {
      ...storeOn(sql, place),
      run: async (tx, text) => (tx as unknown as postgres.TransactionSql).unsafe(text),
      begin: async (work) => (await sql.begin((tx) => work(tx as never))) as never,
      close: () => sql.end({ timeout: 1 }),
    }
  },
}

export const onKysely: PostgresTestDriver<OpenedDriver> = {
  name: 'kysely',
  excuse: pairsAlone,
  async open(place) {
    const database = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool(place) }) })
    return {
      ...storeOn(database, place),
      run: (tx, sql) => kyselySql.raw(sql).execute(tx as never),
      begin: (work) => database.transaction().execute((tx) => work(tx as never)),
      close: () => database.destroy(),
    }
  },
}

type Drizzle = ReturnType<typeof drizzleOnPg>

function onDrizzleDatabase(database: Drizzle, place: Place, close: () => Promise<unknown>): OpenedDriver {
  return {
    ...storeOn(database, place),
    run: async (tx, sql) => (tx as unknown as Drizzle).execute(drizzleSql.raw(sql)),
    begin: (work) => database.transaction((tx) => work(tx as never)),
    close,
  }
}

export const onDrizzle: PostgresTestDriver<OpenedDriver> = {
  name: 'drizzle on pg',
  excuse: pairsAlone,
  async open(place) {
    const pool = openPool(place)
    // Not waited for: Drizzle never gives back a connection whose BEGIN failed.
    return onDrizzleDatabase(drizzleOnPg(pool), place, async () => void pool.end())
  },
}

export const onDrizzlePostgresJs: PostgresTestDriver = {
  name: 'drizzle on postgres.js',
  excuse: [...crashExcuse, ...pairsAlone],
  async open(place) {
    const client = openPostgresJs(place)
    return onDrizzleDatabase(drizzleOnPostgresJs(client) as never, place, () => client.end({ timeout: 1 }))
  },
}

/** A transaction of the caller around every call. */
export const inCallersTransaction: PostgresTestDriver = {
  name: 'pg, in a transaction of the caller',
  excuse: [
    ...pairsAlone,
    {
      test: 'an effect that calls its own store',
      reason: 'the caller fetches another connection first, and its transaction waits without a limit of the store',
      run: false,
    },
  ],
  async open(place) {
    const opened = onPg(openPool(place), place)
    const { store, begin } = opened
    return {
      ...opened,
      store: {
        advance: (payment, effect) => begin((tx) => store.in(tx).advance(payment, effect)),
        current: (key) => store.current(key),
        list: (address) => store.list(address),
      },
    }
  },
}
