/** Builds the store over the tables of one schema. @module */
import type { ConsoleReads, Ids, PaymentReads, Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { createAccountStore } from './accounts.js'
import { createAuditStore } from './audit.js'
import { createChainReads } from './chains/chain-reads.js'
import { createConsoleReads } from './console/console-reads.js'
import { createDataKeyStore } from './data-keys.js'
import { createDeliveryStore } from './deliveries/delivery-store.js'
import type { Engine } from './engine.js'
import { createHistoryStore, type UpdateDirectory } from './history/history-store.js'
import { createIdentityAccounts } from './identity/accounts.js'
import { createIdentityStore } from './identity/identity-store.js'
import { createIntegrationSessionStore } from './integration-sessions.js'
import { createIntegrationStore } from './integrations.js'
import { createLeaseStore } from './leases.js'
import { createLegacyKeyStore } from './legacy-keys.js'
import { createSchema, migrate } from './migrations/migrate.js'
import { createMoveStore } from './moves/move-store.js'
import { createOperatorStore } from './operators.js'
import { createPaymentReads } from './payments/payment-reads.js'
import { preferReaderForConsole, preferReaderForPayments } from './prefer-reader.js'
import type { Migration } from './schema/migration.js'
import { listSealingKeys } from './sealing-keys.js'
import { createStoreTransaction } from './store-transaction.js'

/** An engine, and how its transactions are guarded. */
export interface GuardedEngine {
  readonly engine: Engine
  /** For transactions of the store itself. */
  readonly outbox: Engine
  assertNotNested(): void
}

/**
 * Builds it.
 * @param ids - Makes the tokens of leases.
 * @param directory - Of a database in shards.
 */
export function createSchemaStore(
  { engine, outbox, assertNotNested }: GuardedEngine,
  ids: Ids,
  migrations: readonly Migration[],
  directory?: UpdateDirectory,
): Store {
  return {
    migrate: (report) => migrate(engine, migrations, report),
    schema: createSchema(engine, migrations),
    async transaction(work, options = {}) {
      let made = 0
      const result = await engine.transaction((db) => {
        made = 0
        return work(createStoreTransaction(db, engine.dialect, (deliveries) => (made += deliveries)))
      }, options)
      if (made > 0) engine.announceDue()
      return result
    },
    assertNotNested,
    payments: paymentReads(engine),
    chains: createChainReads(engine.read),
    leases: createLeaseStore(engine),
    deliveries: createDeliveryStore(outbox, ids),
    integrations: createIntegrationStore(engine),
    accounts: createAccountStore(engine),
    legacyKeys: createLegacyKeyStore(engine),
    operators: createOperatorStore(engine),
    integrationSessions: createIntegrationSessionStore(engine),
    audit: createAuditStore(engine.read),
    console: consoleReads(engine),
    history: createHistoryStore(engine, directory),
    moves: createMoveStore(engine),
    identity: createIdentityStore(engine),
    identityAccounts: createIdentityAccounts(engine),
    dataKeys: createDataKeyStore(engine),
    sealingKeys: (now) => listSealingKeys(engine, now),
    async ping() {
      await sql`select 1`.execute(engine.read)
    },
    close: () => engine.close(),
  }
}

function paymentReads(engine: Engine): PaymentReads {
  const { reader } = engine
  const primary = createPaymentReads(engine)
  return reader === undefined ? primary : preferReaderForPayments(primary, createPaymentReads(reader), reader)
}

function consoleReads(engine: Engine): ConsoleReads {
  const { reader } = engine
  const primary = createConsoleReads(engine)
  if (reader === undefined) return primary
  return preferReaderForConsole(primary, createConsoleReads({ ...engine, ...reader }), reader)
}
