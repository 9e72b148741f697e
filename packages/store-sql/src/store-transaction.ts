/** The operations of one transaction. @module */
import type { StoreTransaction } from '@payment-integration/core/ports'
import { linkAccountsIn } from './accounts.js'
import { auditIn } from './audit.js'
import { indexedChains, listCheckpoints, readTip, setReached, type Tip, writeCheckpoint } from './chains/checkpoints.js'
import { setCoverage } from './chains/coverage.js'
import { awaitFulfilments, forgetDeposits, settleDeposit, upsertDeposits } from './chains/deposits.js'
import { addProof, addWeakerProof } from './chains/proofs.js'
import { dataKeysIn } from './data-keys.js'
import { replayDeliveries } from './deliveries/replay.js'
import type { Connection, SqlDialect } from './engine.js'
import { accountsIn } from './identity/account-changes.js'
import { identityIn } from './identity/identity-store.js'
import { integrationSessionsIn } from './integration-sessions.js'
import { findRegistered, integrationsIn } from './integrations.js'
import { checkInteger } from './internal/checks.js'
import { legacyKeysIn } from './legacy-keys.js'
import { operatorsIn } from './operators.js'
import { leaveAbove, leavePayments, offChainPayments, overduePayments, paymentsInBlocks } from './payments/off-chain.js'
import { paymentsForChange, setDropped, setStatuses } from './payments/payment-changes.js'
import { upsertPayments } from './payments/upsert-payments.js'
import { insertSnapshots } from './snapshots.js'
import { findUpdates, insertUpdates, settleUpdates, waitingUpdates } from './updates.js'

/**
 * Binds the operations to a transaction's connection.
 * @param madeDue - Called with the number of deliveries that became due.
 */
export function createStoreTransaction(
  db: Connection,
  dialect: SqlDialect,
  madeDue: (deliveries: number) => void,
): StoreTransaction {
  /** The tips of the chains that this transaction has locked; null: the chain has none. */
  const tips = new Map<number, Tip | null>()
  const tipOf = async (chainId: number) => tips.get(chainId) ?? (tips.has(chainId) ? null : readTip(db, chainId))
  return {
    async lockChain(chainId) {
      await dialect.lock(db, `chain ${checkInteger(chainId, 'chainId')}`)
      const tip = await readTip(db, chainId)
      tips.set(chainId, tip)
      return tip?.checkpoint ?? null
    },
    // Not a shared lock: PostgreSQL grants those past one that waits, so updates would starve the indexer.
    shareChain: async (chainId) => dialect.lock(db, `chain ${checkInteger(chainId, 'chainId')}`),
    async setCheckpoint(chainId, to, below = []) {
      const tip = await writeCheckpoint(db, dialect, { chainId, to, below, from: await tipOf(chainId) })
      if (tips.has(chainId)) tips.set(chainId, tip)
    },
    async reached(chainId) {
      const tip = await tipOf(checkInteger(chainId, 'chainId'))
      return tip === null ? null : Math.max(tip.checkpoint.blockNumber, tip.reached ?? 0)
    },
    async setReached(chainId, height) {
      const reached = checkInteger(height, 'height')
      const tip = await tipOf(checkInteger(chainId, 'chainId'))
      if (tip === null) return
      await setReached(db, chainId, tip.checkpoint.blockNumber, reached)
      if (tips.has(chainId)) tips.set(chainId, { ...tip, reached })
    },
    async leaveChain(chainId, above) {
      checkInteger(chainId, 'chainId')
      checkInteger(above, 'above')
      await awaitFulfilments(db, dialect, chainId, above)
      await leaveAbove(db, chainId, above)
      await forgetDeposits(db, chainId, above)
    },
    leavePayments: (paymentIds) => leavePayments(db, dialect, paymentIds),
    indexedChains: () => indexedChains(db),
    checkpoints: (chainId, atOrBelow, limit) => listCheckpoints(db, chainId, atOrBelow, limit),
    upsertPayments: (payments) => upsertPayments(db, dialect, payments),
    paymentsInBlocks: (chainId, from, to) => paymentsInBlocks(db, dialect, chainId, from, to),
    overduePayments: (chainId, atOrBelow, limit, awaitedAtOrBelow) =>
      overduePayments(db, dialect, { chainId, atOrBelow, limit, awaitedAtOrBelow }),
    offChainPayments: (chainId) => offChainPayments(db, chainId),
    setDropped: (paymentId, dropped) => setDropped(db, paymentId, dropped),
    paymentsForChange: (...selectors) => paymentsForChange(db, dialect, selectors),
    setStatuses: (statuses) => setStatuses(db, dialect, statuses),
    insertSnapshots: async (snapshots) => madeDue(await insertSnapshots(db, dialect, snapshots)),
    addProof: (chainId, proven) => addProof(db, chainId, proven),
    addWeakerProof: (chainId, proven) => addWeakerProof(db, chainId, proven),
    setCoverage: (chainId, coverage) => setCoverage(db, chainId, coverage),
    upsertDeposits: (deposits) => upsertDeposits(db, dialect, deposits),
    settleDeposit: (id) => settleDeposit(db, id),
    findUpdates: (updateIds) => findUpdates(db, dialect, updateIds),
    insertUpdates: (updates) => insertUpdates(db, dialect, updates),
    waitingUpdates: (keys) => waitingUpdates(db, dialect, keys),
    settleUpdates: (settled) => settleUpdates(db, dialect, settled),
    async replayDeliveries(request) {
      const replayed = await replayDeliveries(db, dialect, request)
      madeDue(replayed.replayed)
      return replayed
    },
    registeredIntegrations: (addresses) => findRegistered(db, dialect, addresses),
    integrations: integrationsIn(db, dialect),
    accounts: linkAccountsIn(db),
    legacyKeys: legacyKeysIn(db),
    operators: operatorsIn(db),
    integrationSessions: integrationSessionsIn(db),
    dataKeys: dataKeysIn(db),
    identity: identityIn(db, dialect),
    identityAccounts: accountsIn(db, dialect),
    ...auditIn(db, dialect),
  }
}
