/** Builds the store over either database, and the operations of one transaction. @module */
import { AsyncLocalStorage } from 'node:async_hooks'
import { systemIds } from '@payment-integration/core'
import type { StoreTransaction } from '@payment-integration/core/internal'
import type { IdSource, Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import {
  createLeaseStore,
  listCheckpoints,
  listIndexedChains,
  readTip,
  setReached,
  type Tip,
  writeCheckpoint,
} from './chains/checkpoints.js'
import { forgetDeposits, reopenDepositsQuery, settleDeposit, upsertDeposits } from './chains/deposits.js'
import { addProof, addWeakerProof, createChainReads, setCoverage } from './chains/proofs.js'
import { createConsoleReads } from './console/console-reads.js'
import { createDeliveryStore, replayDeliveries } from './deliveries/delivery-store.js'
import type { Connection, Engine } from './engine.js'
import { bindAudit, listAudit, readNewestAudit } from './history/audit.js'
import { createHistoryStore } from './history/history-store.js'
import { bindAccounts } from './identity/accounts.js'
import { bindIdentity, createIdentityStore } from './identity/identity-store.js'
import { bindIntegrationSessions } from './integrations/integration-sessions.js'
import { bindIntegrations, createIntegrationStore, findRegistered } from './integrations/integrations.js'
import { bindLegacyAccounts, bindLegacyKeys, createAccountStore, createLegacyKeyStore } from './integrations/legacy.js'
import { createMoveStore } from './integrations/move-store.js'
import { checkInteger } from './internal/values.js'
import { createSchema, migrate, releasedMigrations } from './migrations/migrate.js'
import { bindDataKeys, createDataKeyStore, listSealingKeys } from './operators/data-keys.js'
import { bindOperatorSessions, bindOperators, createOperatorStore } from './operators/operators.js'
import {
  blocksQuery,
  findOffChainPayments,
  lockOverduePayments,
  lockPaymentsForChange,
  markOffChain,
  markOffChainAbove,
  setDropped,
  setStatuses,
  withStatuses,
} from './payments/payment-changes.js'
import { createPaymentReads } from './payments/payment-reads.js'
import { insertSnapshots } from './payments/snapshots.js'
import { findUpdates, insertUpdates, settleUpdates, waitingUpdates } from './payments/updates.js'
import { upsertPayments } from './payments/upsert-payments.js'
import { preferReaderForConsole, preferReaderForPayments } from './postgres/postgres-reader.js'

/** Binds the operations of a transaction to `db`. `reportDue` gets the number of deliveries that became due. */
export function createStoreTransaction(db: Connection, reportDue: (deliveries: number) => void): StoreTransaction {
  /** The tips of the chains that this transaction has locked; null: the chain has none. */
  const tips = new Map<number, Tip | null>()
  const getTip = async (chainId: number) => tips.get(chainId) ?? (tips.has(chainId) ? null : readTip(db, chainId))
  return {
    async lockChain(chainId) {
      await db.dialect.lock(db, `chain ${checkInteger(chainId, 'chainId')}`)
      const tip = await readTip(db, chainId)
      tips.set(chainId, tip)
      return tip?.checkpoint ?? null
    },
    // Not a shared lock: PostgreSQL grants those ahead of a waiting exclusive one, so updates would starve the indexer.
    shareChain: async (chainId) => db.dialect.lock(db, `chain ${checkInteger(chainId, 'chainId')}`),
    async setCheckpoint(chainId, to, below = []) {
      const tip = await writeCheckpoint(db, chainId, await getTip(chainId), to, below)
      if (tips.has(chainId)) tips.set(chainId, tip)
    },
    async reached(chainId) {
      const tip = await getTip(checkInteger(chainId, 'chainId'))
      return tip === null ? null : Math.max(tip.checkpoint.blockNumber, tip.reached ?? 0)
    },
    async setReached(chainId, height) {
      const reached = checkInteger(height, 'height')
      const tip = await getTip(checkInteger(chainId, 'chainId'))
      if (tip === null) return
      await setReached(db, chainId, tip.checkpoint.blockNumber, reached)
      if (tips.has(chainId)) tips.set(chainId, { ...tip, reached })
    },
    async markOffChainAbove(chainId, above) {
      checkInteger(chainId, 'chainId')
      checkInteger(above, 'above')
      await reopenDepositsQuery(db, chainId, above).execute()
      await markOffChainAbove(db, chainId, above)
      await forgetDeposits(db, chainId, above)
    },
    markOffChain: (paymentIds) => markOffChain(db, paymentIds),
    indexedChains: () => listIndexedChains(db),
    checkpoints: (chainId, atOrBelow, limit) => listCheckpoints(db, chainId, atOrBelow, limit),
    upsertPayments: (payments) => upsertPayments(db, payments),
    paymentsInBlocks: async (chainId, from, to) => withStatuses(db, await blocksQuery(db, chainId, from, to).execute()),
    overduePayments: (query) => lockOverduePayments(db, query),
    offChainPayments: (chainId) => findOffChainPayments(db, chainId),
    setDropped: (paymentId, dropped) => setDropped(db, paymentId, dropped),
    paymentsForChange: (...selectors) => lockPaymentsForChange(db, selectors),
    setStatuses: (statuses) => setStatuses(db, statuses),
    insertSnapshots: async (snapshots) => reportDue(await insertSnapshots(db, snapshots)),
    addProof: (chainId, proven) => addProof(db, chainId, proven),
    addWeakerProof: (chainId, proven) => addWeakerProof(db, chainId, proven),
    setCoverage: (chainId, coverage) => setCoverage(db, chainId, coverage),
    upsertDeposits: (deposits) => upsertDeposits(db, deposits),
    settleDeposit: (id) => settleDeposit(db, id),
    findUpdates: (updateIds) => findUpdates(db, updateIds),
    insertUpdates: (updates) => insertUpdates(db, updates),
    waitingUpdates: (keys) => waitingUpdates(db, keys),
    settleUpdates: (settled) => settleUpdates(db, settled),
    async replayDeliveries(request) {
      const replayed = await replayDeliveries(db, request)
      reportDue(replayed.replayed)
      return replayed
    },
    registeredIntegrations: (addresses) => findRegistered(db, addresses),
    integrations: bindIntegrations(db),
    accounts: bindLegacyAccounts(db),
    legacyKeys: bindLegacyKeys(db),
    operators: bindOperators(db),
    operatorSessions: bindOperatorSessions(db),
    integrationSessions: bindIntegrationSessions(db),
    dataKeys: bindDataKeys(db),
    identity: bindIdentity(db),
    identityAccounts: bindAccounts(db),
    ...bindAudit(db),
  }
}

export function createStore(database: Engine, ids: IdSource = systemIds, migrations = releasedMigrations): Store {
  const { engine, outbox, assertNotNested } = rejectNesting(database)
  const { reader } = engine
  const payments = createPaymentReads(engine)
  const consoleReads = createConsoleReads(engine)
  return {
    migrate: (report) => migrate(engine, migrations, report),
    schema: createSchema(engine, migrations),
    async transaction(work, options = {}) {
      let deliveryCount = 0
      const result = await engine.transaction((db) => {
        deliveryCount = 0
        return work(createStoreTransaction(db, (deliveries) => (deliveryCount += deliveries)))
      }, options)
      if (deliveryCount > 0) engine.announceDue()
      return result
    },
    assertNotNested,
    payments: reader === undefined ? payments : preferReaderForPayments(payments, createPaymentReads(reader), reader),
    chains: createChainReads(engine.read),
    leases: createLeaseStore(engine),
    deliveries: createDeliveryStore(outbox, ids),
    integrations: createIntegrationStore(engine),
    accounts: createAccountStore(engine),
    legacyKeys: createLegacyKeyStore(engine),
    operators: createOperatorStore(engine),
    audit: { list: (query) => listAudit(engine.read, query), newest: () => readNewestAudit(engine.read) },
    console:
      reader === undefined
        ? consoleReads
        : preferReaderForConsole(consoleReads, createConsoleReads({ ...engine, ...reader }), reader),
    history: createHistoryStore(engine),
    moves: createMoveStore(engine),
    identity: createIdentityStore(engine),
    dataKeys: createDataKeyStore(engine),
    sealingKeys: (now) => listSealingKeys(engine.read, now),
    async ping() {
      await sql`select 1`.execute(engine.read)
    },
    close: () => engine.close(),
  }
}

/**
 * Rejects a transaction that starts inside the work of another one: each would wait for the other. Work that outlives
 * its transaction may start new ones. `outbox` is for the store's own transactions, whose work never starts another:
 * they are rejected inside other work too, but not tracked, as tracking slows every promise of the process.
 */
function rejectNesting(database: Engine) {
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
