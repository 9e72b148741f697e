/** Outboxes on PostgreSQL whose dead rows an open snapshot keeps. @module */
import { fixtures } from '@payment-integration/core/conformance'
import type { ClaimedDelivery, SettledAttempt, Store } from '@payment-integration/core/ports'
import pg from 'pg'
import { createStore } from '../../src/create-store.js'
import { type CompactionLimits, createOutboxCompactor } from '../../src/postgres/compact-outbox.js'
import { PostgresDriver } from '../../src/postgres/postgres-driver.js'
import { createPostgresEngine } from '../../src/postgres/postgres-engine.js'
import { schemasOnPostgres } from './schemas.js'

const { answered, hash, indexPayments, indifferent, integration, primary } = fixtures

/** Compacts at each look, where it may. */
export const eager = { lookAfter: 1, leastPages: 1, mostRows: 1_000 }

const never = { lookAfter: Number.POSITIVE_INFINITY }

/** Begins a transaction with a snapshot. */
export const snapshot = 'begin isolation level repeatable read; select 1'

/** Claims all that is due. */
export const claimAll = { limit: 500, leaseMs: 600_000, perEndpoint: 100_000 }

/** The attempt that delivered. */
export const delivered = (claim: ClaimedDelivery): SettledAttempt => ({
  claim,
  attempt: answered,
  verdict: { kind: 'delivered' },
})

let payments = 0

/** Adds deliveries that are due. */
export async function publish(store: Store, count: number): Promise<void> {
  const first = payments
  payments += count
  const added = Array.from({ length: count }, (_, n) => primary({ txHash: hash(first + n) }))
  await store.transaction((tx) => indexPayments(tx, added))
}

/** Adds deliveries and delivers them, together with those that are due before. */
export async function deliver(store: Store, count: number): Promise<void> {
  await publish(store, count)
  const claims = await store.deliveries.claim(claimAll)
  await store.deliveries.settle(claims.map(delivered), indifferent)
}

/** Registers the hooks of a database, and returns ways to use it that end with their test. */
export function outboxes() {
  const { connectionString, admin, nextSchema, onEnd } = schemasOnPostgres('outbox')

  function openPool(config: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ connectionString: connectionString(), ...config })
    pool.on('error', () => undefined)
    // A client of an ended pool may still hear that its database is dropped.
    pool.on('connect', (client) => client.on('error', () => undefined))
    onEnd(() => pool.ended || pool.end())
    return pool
  }

  async function connect(config: pg.ClientConfig = {}): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: connectionString(), ...config })
    await client.connect()
    onEnd(() => client.end().catch(() => undefined))
    return client
  }

  function storeOn(pool: pg.Pool, schema: string, compaction: Partial<CompactionLimits> = never): Store {
    const store = createStore(createPostgresEngine(pool, { schema, compaction }))
    onEnd(() => store.close())
    return store
  }

  return {
    openPool,
    connect,
    storeOn,
    /** A new schema with an integration, and a session with a snapshot. */
    async open(compaction?: Partial<CompactionLimits>) {
      const schema = nextSchema()
      const pool = openPool()
      const store = storeOn(pool, schema, compaction)
      await store.migrate()
      await store.integrations.insert(integration())
      const session = await connect()
      await session.query(snapshot)
      return { schema, pool, store, session }
    },
    /** A look of a compactor that has looked once before, so that it knows which snapshots are older. */
    async compactorOn(pool: pg.Pool, schema: string, limits: Partial<CompactionLimits> = {}) {
      const driver = new PostgresDriver(pool, { keepsPlans: false })
      const compactor = createOutboxCompactor(driver, schema, { ...eager, ...limits })
      const look = async () => {
        compactor.settled(1)
        await compactor.idle()
      }
      await look()
      return look
    },
    /** The address of a role with the rights that the README asks for, apart from TRUNCATE. */
    async createWorker(schema: string): Promise<string> {
      await run(`do $$ begin create role outbox_worker login; exception when duplicate_object then null; end $$;
        grant usage on schema ${schema} to outbox_worker;
        grant select, insert, update, delete on all tables in schema ${schema} to outbox_worker`)
      return connectionString().replace('postgres@', 'outbox_worker@')
    },
    run,
    rowsOf: (schema: string) => run(`select * from ${schema}.outbox order by id`),
    /** The number of the table's file: a compaction changes it. */
    async fileOf(schema: string): Promise<number> {
      const [row] = await run(`select pg_relation_filenode('${schema}.outbox')::int as file`)
      return Number(row?.['file'])
    },
    async pagesOf(schema: string): Promise<number> {
      const [row] = await run(`select pg_relation_size('${schema}.outbox') / 8192 as pages`)
      return Number(row?.['pages'])
    },
  }

  async function run(sql: string): Promise<Record<string, unknown>[]> {
    return (await admin().query<Record<string, unknown>>(sql)).rows
  }
}
