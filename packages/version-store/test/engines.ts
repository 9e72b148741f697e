/** The databases that outlive a killed process, behind one shape: versions and notes of one payment. @module */
import { Redis } from 'ioredis'
import pg from 'pg'
import type { VersionDecision, VersionStore } from '../src/exports/index.js'
import { createPostgresVersionStore } from '../src/exports/postgres.js'
import { createRedisVersionStore } from '../src/exports/redis.js'
import { createSqliteVersionStore } from '../src/exports/sqlite.js'
import { drivers, getNotes, openReceiverDatabase } from './drivers.js'

/** An engine, opened by one process. */
export interface Engine {
  /** Delivers a version whose effect writes its number, and then does `more`. */
  deliver(version: number, more?: () => Promise<void>): Promise<VersionDecision>
  current(): Promise<number | undefined>
  /** The versions whose effects are kept, in the order in which they were written. */
  notes(): Promise<number[]>
  close(): Promise<void>
}

const patience = { busyTimeoutMs: 600_000, statementTimeoutMs: 600_000, idleTimeoutMs: 600_000 }
const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}` }

function engine<Tx>(
  store: VersionStore<Tx>,
  write: (tx: Tx, note: string) => unknown,
  rest: Pick<Engine, 'notes' | 'close'>,
): Engine {
  return {
    deliver: (version, more) =>
      store.advance({ ...payment, version }, async (tx) => {
        await write(tx, `${version}`)
        await more?.()
      }),
    current: () => store.current(payment),
    ...rest,
  }
}

/** Opens `sqlite` at a path, `postgres` at a connection string, or `redis` at a socket. */
export async function openEngine(name: string, address: string): Promise<Engine> {
  if (name === 'sqlite') {
    const database = openReceiverDatabase(drivers[0].open, address)
    const insert = database.prepare('INSERT INTO notes (note) VALUES (?)')
    return engine(createSqliteVersionStore({ database, ...patience }), (_, note) => void insert.run(note), {
      notes: async () => getNotes(database).map(Number),
      close: async () => database.close(),
    })
  }
  if (name === 'postgres') {
    const pool = new pg.Pool({ connectionString: address })
    pool.on('error', () => {})
    const store = createPostgresVersionStore({ database: pool, ...patience })
    await store.migrate()
    await pool.query('CREATE TABLE IF NOT EXISTS notes (id bigserial PRIMARY KEY, note bigint NOT NULL)')
    return engine(store, (tx, note) => tx.query('INSERT INTO notes (note) VALUES ($1)', [note]), {
      notes: async () => (await pool.query('SELECT note FROM notes ORDER BY id')).rows.map((row) => Number(row.note)),
      close: () => pool.end(),
    })
  }
  const redis = new Redis(address)
  const store = createRedisVersionStore({ redis, leaseMs: 500, ...patience })
  return engine(store, (tx, note) => tx.write('RPUSH', 'notes', note), {
    notes: async () => (await redis.lrange('notes', 0, -1)).map(Number),
    close: async () => redis.disconnect(),
  })
}
