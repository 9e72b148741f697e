/** The PostgreSQL drivers, each behind the shape that the suite needs. @module */
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import type { ConformanceExcuse } from '../src/conformance.js'
import type { ListingVersionStore } from '../src/exports/index.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'

/** The options of a store. */
export interface Place {
  readonly connectionString: string
  readonly host: string
  readonly table: string
  readonly notes: string
}

/** A store, and how one writes through its transaction. */
export interface Opened<Tx> {
  readonly store: ListingVersionStore<Tx>
  write(tx: Tx, note: string): Promise<void>
  migrate(): Promise<void>
  close(): Promise<void>
}

/** A driver by name. `open` gives a store of transactions of its own. */
export interface PostgresTestDriver {
  readonly name: string
  open(place: Place): Promise<Opened<never>>
  readonly excuse?: readonly ConformanceExcuse[]
}

const patience = { busyTimeoutMs: 60_000, statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 }
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

/** A pool whose lent connections may end: Kysely and Drizzle listen to none of them. */
function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: connections })
  pool.on('error', quiet)
  pool.on('connect', (client) => void client.on('error', quiet))
  return pool
}

function opened<Tx>(parts: Opened<Tx>): Opened<never> {
  return parts as unknown as Opened<never>
}

export const onPool: PostgresTestDriver = {
  name: 'pg, a pool',
  async open({ connectionString, table, notes }) {
    const pool = new pg.Pool({ connectionString, max: connections })
    pool.on('error', quiet)
    const store = createPostgresVersionStore({ database: pool, table, ...patience })
    return opened({
      store,
      write: async (tx, note) => void (await tx.query(`INSERT INTO ${notes} (note) VALUES ($1)`, [note])),
      migrate: () => store.migrate(),
      close: () => pool.end(),
    })
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
  async open({ connectionString, table, notes }) {
    const pools = Array.from({ length: 8 }, () => new pg.Pool({ connectionString, max: connections / 4 }))
    for (const pool of pools) pool.on('error', quiet)
    const stores = pools.map((database) => createPostgresVersionStore({ database, table, ...patience }))
    const [first] = stores as [(typeof stores)[number]]
    let calls = 0
    const next = () => stores[calls++ % stores.length] ?? first
    return opened<pg.PoolClient>({
      store: {
        advance: (payment, effect) => next().advance(payment, effect),
        current: (key) => next().current(key),
        list: (address) => next().list(address),
      },
      write: async (tx, note) => void (await tx.query(`INSERT INTO ${notes} (note) VALUES ($1)`, [note])),
      migrate: () => first.migrate(),
      close: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
    })
  },
}

/** Reconnects as an application would: a new client, and a new store on it, where the old one is gone. */
export const onClient: PostgresTestDriver = {
  name: 'pg, one client',
  async open({ connectionString, table, notes }) {
    const connect = async () => {
      const client = new pg.Client({ connectionString })
      client.on('error', () => {
        if (current?.client === client) current = undefined
      })
      await client.connect()
      return { client, store: createPostgresVersionStore({ database: client, table, ...patience }) }
    }
    let current: Awaited<ReturnType<typeof connect>> | undefined = await connect()
    const reconnected = async () => {
      current ??= await connect()
      return current.store
    }
    return opened<pg.Client>({
      store: {
        // At once while connected, as the store itself would be called.
        advance: async (payment, effect) => (current?.store ?? (await reconnected())).advance(payment, effect),
        current: async (key) => (current?.store ?? (await reconnected())).current(key),
        async *list(address) {
          yield* (current?.store ?? (await reconnected())).list(address)
        },
      },
      write: async (tx, note) => void (await tx.query(`INSERT INTO ${notes} (note) VALUES ($1)`, [note])),
      migrate: async () => (await reconnected()).migrate(),
      close: async () => current?.client.end(),
    })
  },
}

export const onPostgresJs: PostgresTestDriver = {
  name: 'postgres.js',
  excuse: [...crashExcuse, ...pairsAlone],
  async open({ host, table, notes }) {
    const sql = postgres({
      host,
      username: 'postgres',
      database: 'postgres',
      max: connections,
      backoff: false,
      onnotice: quiet,
    })
    const store = createPostgresVersionStore({ database: sql, table, ...patience })
    return opened({
      store,
      write: async (tx, note) => void (await tx`INSERT INTO ${tx(notes)} (note) VALUES (${note})`),
      migrate: () => store.migrate(),
      close: () => sql.end({ timeout: 1 }),
    })
  },
}

export const onKysely: PostgresTestDriver = {
  name: 'kysely',
  excuse: pairsAlone,
  async open({ connectionString, table, notes }) {
    const database = new Kysely<object>({ dialect: new PostgresDialect({ pool: openPool(connectionString) }) })
    const store = createPostgresVersionStore({ database, table, ...patience })
    return opened({
      store,
      write: async (tx, note) =>
        void (await kyselySql`INSERT INTO ${kyselySql.table(notes)} (note) VALUES (${note})`.execute(tx)),
      migrate: () => store.migrate(),
      close: () => database.destroy(),
    })
  },
}

export const onDrizzle: PostgresTestDriver = {
  name: 'drizzle on pg',
  excuse: pairsAlone,
  async open({ connectionString, table, notes }) {
    const pool = openPool(connectionString)
    const store = createPostgresVersionStore({ database: drizzleOnPg(pool), sql: drizzleSql, table, ...patience })
    const name = drizzleSql.identifier(notes)
    return opened({
      store,
      write: async (tx, note) => void (await tx.execute(drizzleSql`INSERT INTO ${name} (note) VALUES (${note})`)),
      migrate: () => store.migrate(),
      // Not waited for: Drizzle never gives back a connection whose BEGIN failed.
      close: async () => void pool.end(),
    })
  },
}

export const onDrizzlePostgresJs: PostgresTestDriver = {
  name: 'drizzle on postgres.js',
  excuse: [...crashExcuse, ...pairsAlone],
  async open({ host, table, notes }) {
    const client = postgres({
      host,
      username: 'postgres',
      database: 'postgres',
      max: connections,
      backoff: false,
      onnotice: quiet,
    })
    const store = createPostgresVersionStore({
      database: drizzleOnPostgresJs(client),
      sql: drizzleSql,
      table,
      ...patience,
    })
    const name = drizzleSql.identifier(notes)
    return opened({
      store,
      write: async (tx, note) => void (await tx.execute(drizzleSql`INSERT INTO ${name} (note) VALUES (${note})`)),
      migrate: () => store.migrate(),
      close: () => client.end({ timeout: 1 }),
    })
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
  async open({ connectionString, table, notes }) {
    const pool = openPool(connectionString)
    const store = createPostgresVersionStore({ database: pool, table, ...patience })
    return opened<pg.PoolClient>({
      store: {
        async advance(payment, effect) {
          const client = await pool.connect()
          try {
            await client.query('BEGIN')
            const decision = await store.in(client).advance(payment, effect)
            await client.query('COMMIT')
            client.release()
            return decision
          } catch (error) {
            await client.query('ROLLBACK').then(
              () => client.release(),
              () => client.release(true),
            )
            throw error
          }
        },
        current: (key) => store.current(key),
        list: (address) => store.list(address),
      },
      write: async (tx, note) => void (await tx.query(`INSERT INTO ${notes} (note) VALUES ($1)`, [note])),
      migrate: () => store.migrate(),
      close: () => pool.end(),
    })
  },
}
