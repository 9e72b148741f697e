/** The store inside a transaction of the host. Source: DESIGN section 1 (service team). @module */
import type { Store } from '@payment-integration/core/ports'
import type pg from 'pg'
import { createStoreTransaction } from '../store-transaction.js'
import { checkSchema, kyselyOn, postgresStoreDefaults } from './create-postgres-store.js'
import { dueChannelName } from './due-channel.js'
import { postgresDifferences } from './postgres-differences.js'
import { PostgresDriver } from './postgres-driver.js'

/** Where the tables are. */
export interface JoinOptions {
  /** As `createPostgresStore` has it. @default 'payment_integration' */
  readonly schema?: string | undefined
}

const savepoint = 'payment_integration_join'

/**
 * A store's `transaction` inside one that the host has begun on a connection of its own: what it writes is kept or lost together with the
 * host's own rows, when the host commits or rolls back. Work that fails is undone up to a savepoint, and the host's transaction goes on.
 * Use one at a time on a connection, and pass it to `service.applyUpdateIn`. Conflicts are the host's to repeat.
 * @param client - A `pg` client or pool client, after `BEGIN` at any isolation level.
 * @throws TypeError When the schema's name is none.
 * @example await service.applyUpdateIn(joinPostgresTransaction(client), update)
 */
export function joinPostgresTransaction(client: pg.ClientBase, options: JoinOptions = {}): Pick<Store, 'transaction'> {
  const { schema = postgresStoreDefaults.schema } = options
  checkSchema(schema)
  const words = {
    begin: `savepoint ${savepoint}`,
    commit: `release savepoint ${savepoint}`,
    rollback: `rollback to savepoint ${savepoint}; release savepoint ${savepoint}`,
  }
  const driver = new PostgresDriver(lending(client), { keepsPlans: false, words })
  const db = kyselyOn(driver)
  const differences = postgresDifferences(schema, undefined)
  return {
    transaction: (work) =>
      db.transaction().execute(async (tx) => {
        let made = 0
        const result = await work(
          createStoreTransaction(tx.withSchema(schema), differences, (deliveries) => (made += deliveries)),
        )
        // Within the transaction, so that word goes out exactly when the host commits.
        if (made > 0) await client.query(`notify ${dueChannelName(schema)}`)
        return result
      }),
  }
}

/** A pool of one connection, which stays the host's. */
function lending(client: pg.ClientBase): pg.Pool {
  const lent = {
    query: client.query.bind(client),
    on: client.on.bind(client),
    off: client.off.bind(client),
    release: () => undefined,
  }
  return { connect: async () => lent } as unknown as pg.Pool
}
