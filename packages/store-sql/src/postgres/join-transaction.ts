/** Joins the store to a transaction of the host. Source: docs/architecture.md. @module */
import type { Store } from '@payment-integration/core/ports'
import type pg from 'pg'
import { createStoreTransaction } from '../create-store.js'
import { withDialect } from '../engine.js'
import { checkSchema, postgresStoreDefaults } from './create-postgres-store.js'
import { getDueChannelName } from './due-channel.js'
import { createKysely, PostgresDriver } from './postgres-connection.js'
import { postgresDialect } from './postgres-dialect.js'

/** The schema of the joined store. */
export interface JoinOptions {
  /** Like the option of `createPostgresStore`. @default 'payment_integration' */
  readonly schema?: string | undefined
}

const savepoint = 'payment_integration_join'

/**
 * Runs the store's `transaction` inside one of the host, which commits or rolls back both. Failed work is undone up to
 * a savepoint, and the host's transaction continues. Pass the result to `service.applyUpdateIn`. The host retries after
 * deadlocks.
 * @param client - A `pg` client or pool client after `BEGIN` at READ COMMITTED, the default. At a higher level the
 * host's snapshot could hide a newly indexed payment, and its update would wait for ever.
 * @throws TypeError When the schema's name is malformed. `transaction` rejects with a TypeError at another isolation
 * level, and while another joined transaction is open on the same client.
 * @example
 * import type { ProcessorUpdate } from '@payment-integration/contract'
 * import type { Service } from '@payment-integration/core'
 * import { joinPostgresTransaction } from '@payment-integration/store-sql/postgres'
 * import type { PoolClient } from 'pg'
 * export const applyIn = (service: Service, client: PoolClient, update: ProcessorUpdate) =>
 *   service.applyUpdateIn(joinPostgresTransaction(client), update)
 */
export function joinPostgresTransaction(client: pg.ClientBase, options: JoinOptions = {}): Pick<Store, 'transaction'> {
  const { schema = postgresStoreDefaults.schema } = options
  checkSchema(schema)
  const transactionSql = {
    begin: `savepoint ${savepoint}`,
    commit: `release savepoint ${savepoint}`,
    rollback: `rollback to savepoint ${savepoint}; release savepoint ${savepoint}`,
  }
  const driver = new PostgresDriver(createLendingPool(client), { keepsPlans: false, transactionSql })
  const db = createKysely(driver)
  const dialect = postgresDialect(schema, undefined)

  async function inTransaction<T>(work: Parameters<Store['transaction']>[0]): Promise<T> {
    const { rows } = await client.query("select current_setting('transaction_isolation') as level")
    const [{ level = '' } = {}] = rows as { level?: string }[]
    if (level !== 'read committed') throw new TypeError(`The transaction is ${level}; begin it at READ COMMITTED.`)
    return db.transaction().execute(async (tx) => {
      let deliveryCount = 0
      const joinedDb = withDialect(tx.withSchema(schema), dialect)
      const result = await work(createStoreTransaction(joinedDb, (deliveries) => (deliveryCount += deliveries)))
      // PostgreSQL sends a notification of a transaction exactly at its commit, here the host's.
      if (deliveryCount > 0) await client.query(`notify ${getDueChannelName(schema)}`)
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

/** Clients with an open joined transaction. Two would share a savepoint, and a failed one would undo the other. */
const joined = new WeakSet<pg.ClientBase>()

/** A pool of one connection, which the host owns. */
function createLendingPool(client: pg.ClientBase): pg.Pool {
  const lent = {
    query: client.query.bind(client),
    on: client.on.bind(client),
    off: client.off.bind(client),
    release: () => undefined,
  }
  return { connect: async () => lent } as unknown as pg.Pool
}
