/** Builds the store over either database. @module */
import { AsyncLocalStorage } from 'node:async_hooks'
import { systemIds } from '@payment-integration/core'
import type { ConsoleReads, Ids, PaymentReads, Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { createAccountStore } from './accounts.js'
import { listAudit, newestAudit } from './audit.js'
import { createChainReads } from './chains/chain-reads.js'
import { createConsoleReads } from './console/console-reads.js'
import { createDataKeyStore } from './data-keys.js'
import { createDeliveryStore } from './deliveries/delivery-store.js'
import type { Engine } from './engine.js'
import { createHistoryStore } from './history/history-store.js'
import { createIdentityAccounts } from './identity/accounts.js'
import { createIdentityStore } from './identity/identity-store.js'
import { createIntegrationSessionStore } from './integration-sessions.js'
import { createIntegrationStore } from './integrations.js'
import { createLeaseStore } from './leases.js'
import { createLegacyKeyStore } from './legacy-keys.js'
import { createSchema, migrate } from './migrations/migrate.js'
import { releasedMigrations } from './migrations/released.js'
import { createMoveStore } from './moves/move-store.js'
import { createOperatorStore } from './operators.js'
import { createPaymentReads } from './payments/payment-reads.js'
import { preferReaderForConsole, preferReaderForPayments } from './prefer-reader.js'
import { listSealingKeys } from './sealing-keys.js'
import { createStoreTransaction } from './store-transaction.js'

/** Builds the store port on an engine. */
export function createStore(database: Engine, ids: Ids = systemIds, migrations = releasedMigrations): Store {
  const { engine, outbox, assertNotNested } = rejectNesting(database)
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
    audit: { list: (query) => listAudit(engine.read, query), newest: () => newestAudit(engine.read) },
    console: consoleReads(engine),
    history: createHistoryStore(engine),
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

/**
 * Rejects a transaction that starts inside the work of another one: it would wait for itself. Work that outlives its
 * transaction may start new ones.
 *
 * @returns The engine, and one for the store's own transactions, whose work never starts another. These are rejected
 * inside other work too, but not tracked: tracking slows every promise of the process while they run.
 */
function rejectNesting(database: Engine): {
  readonly engine: Engine
  readonly outbox: Engine
  assertNotNested(): void
} {
  const current = new AsyncLocalStorage<{ open: boolean }>()
  let running = 0
  const assertNotNested = () => {
    if (current.getStore()?.open)
      throw new TypeError('A transaction was started inside the work of another one; use its `tx` instead.')
  }
  const engine: Engine = {
    ...database,
    async transaction(work, options) {
      assertNotNested()
      const scope = { open: true }
      running += 1
      try {
        return await database.transaction((db) => current.run(scope, () => work(db)), options)
      } finally {
        scope.open = false
        running -= 1
        // Until Node 24, tracking a context slows every promise of the process.
        if (running === 0) current.disable()
      }
    },
  }
  const outbox: Engine = {
    ...database,
    async transaction(work, options) {
      assertNotNested()
      return database.transaction(work, options)
    },
  }
  return { engine, outbox, assertNotNested }
}
