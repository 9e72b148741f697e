/** Joins the store to a transaction of the host. Source: docs/architecture.md. @module */
import type { Store } from '@payment-integration/core/ports'
import type pg from 'pg'
import type { NamedQuery } from '../engine.js'
import { createShardMap } from '../shards/shard-map.js'
import { transactionIn } from '../shards/transaction.js'
import { createStoreTransaction } from '../store-transaction.js'
import { checkSchema, postgresStoreDefaults } from './create-postgres-store.js'
import { dueChannelName } from './due-channel.js'
import { postgresDialect } from './postgres-dialect.js'
import { kyselyOn, PostgresDriver } from './postgres-driver.js'
import { checkShardCount, shardsOf } from './postgres-shards.js'

/** The place of the tables. */
export interface JoinOptions {
  /** Like the option of `createPostgresStore`. @default 'payment_integration' */
  readonly schema?: string | undefined
  /** Like the option of `createPostgresStore`. @default 1 */
  readonly shards?: number | undefined
}

const savepoint = 'payment_integration_join'

/**
 * A store's `transaction` inside one of the host. Its writes are committed or rolled back together with the host's own
 * rows. Failed work is undone up to a savepoint, and the host's transaction continues. Pass it to
 * `service.applyUpdateIn`. The host itself retries after deadlocks.
 *
 * @param client - A `pg` client or pool client after `BEGIN` at READ COMMITTED, the default. At a higher level the
 * host's snapshot could hide a newly indexed payment, and its update would wait for ever.
 *
 * @throws TypeError When the schema's name is malformed. `transaction` rejects with a TypeError at another isolation
 * level, and while another joined transaction is open on the same client.
 * @throws RangeError For a number of shards that no database has. `transaction` rejects with a StoreError
 * `ERR_STORE_SCHEMA` when the database has another number.
 * @example await service.applyUpdateIn(joinPostgresTransaction(client), update)
 */
export function joinPostgresTransaction(client: pg.ClientBase, options: JoinOptions = {}): Pick<Store, 'transaction'> {
  const { schema = postgresStoreDefaults.schema, shards: count = postgresStoreDefaults.shards } = options
  checkSchema(schema, count)
  const words = {
    begin: `savepoint ${savepoint}`,
    commit: `release savepoint ${savepoint}`,
    rollback: `rollback to savepoint ${savepoint}; release savepoint ${savepoint}`,
  }
  const driver = new PostgresDriver(lending(client), { keepsPlans: false, words })
  const db = kyselyOn(driver)
  const dialect = postgresDialect(schema, undefined)
  const map = createShardMap(count)
  const shards = map.count === 1 ? [] : shardsOf(schema, count, undefined)

  async function inTransaction<T>(work: Parameters<Store['transaction']>[0]): Promise<T> {
    const { rows } = await client.query("select current_setting('transaction_isolation') as level")
    const [{ level = '' } = {}] = rows as { level?: string }[]
    if (level !== 'read committed') throw new TypeError(`The transaction is ${level}; begin it at READ COMMITTED.`)
    await checkOnce(client, schema, count)
    return db.transaction().execute(async (tx) => {
      let made = 0
      const madeDue = (deliveries: number) => {
        made += deliveries
      }
      const own = tx.withSchema(schema)
      const result = await work(
        count === 1
          ? createStoreTransaction(own, dialect, madeDue)
          : transactionIn({ map, db: own, dialect, shards, madeDue }),
      )
      // Within the transaction, so that the announcement is sent exactly at the host's commit.
      if (made > 0) await client.query(`notify ${dueChannelName(schema)}`)
      return result as T
    })
  }

  return {
    async transaction(work) {
      if (joined.has(client))
        throw new TypeError('Another joined transaction is open on this client; wait for its end.')
      joined.add(client)
      try {
        return await inTransaction(work)
      } finally {
        joined.delete(client)
      }
    },
  }
}

/** The schemas with their numbers of shards that were checked, by client. */
const checked = new WeakMap<pg.ClientBase, Set<string>>()

/** @throws StoreError `ERR_STORE_SCHEMA` For another number of shards: its updates would wait where nobody looks. */
async function checkOnce(client: pg.ClientBase, schema: string, shards: number): Promise<void> {
  const known = checked.get(client) ?? new Set()
  checked.set(client, known)
  const key = `${schema} ${shards}`
  if (known.has(key)) return
  const rows = async ({ sql, parameters }: NamedQuery) => {
    const { rows: values } = await client.query({ text: sql, values: [...parameters], rowMode: 'array' })
    return { values: values as unknown[][] }
  }
  await checkShardCount(rows, schema, shards)
  known.add(key)
}

/** Clients with an open joined transaction. Two would share a savepoint, and a failed one would undo the other. */
const joined = new WeakSet<pg.ClientBase>()

/** A pool of one connection, which the host owns. */
function lending(client: pg.ClientBase): pg.Pool {
  const lent = {
    query: client.query.bind(client),
    on: client.on.bind(client),
    off: client.off.bind(client),
    release: () => undefined,
  }
  return { connect: async () => lent } as unknown as pg.Pool
}
