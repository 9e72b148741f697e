/** The operations of one transaction. @module */
import type { StoreTransaction } from '@payment-integration/core/ports'
import { listCheckpoints, readCheckpoint, writeCheckpoint } from './checkpoints.js'
import type { Connection, Differences } from './engine.js'
import { checkInteger } from './internal/checks.js'
import { leaveChain, paymentsForChange, setStatus } from './payments/payment-changes.js'
import { upsertPayments } from './payments/upsert-payments.js'
import { insertSnapshots } from './snapshots.js'
import { findUpdate, insertUpdate, settleUpdate, waitingUpdates } from './updates.js'

/** Binds the operations to a transaction's connection. */
export function createStoreTransaction(db: Connection, differences: Differences): StoreTransaction {
  return {
    async lockChain(chainId) {
      await differences.lockChain(db, checkInteger(chainId, 'chainId'), 'exclusive')
      return readCheckpoint(db, chainId)
    },
    shareChain: async (chainId) => differences.lockChain(db, checkInteger(chainId, 'chainId'), 'shared'),
    setCheckpoint: (chainId, checkpoint) => writeCheckpoint(db, chainId, checkpoint),
    leaveChain: (chainId, above) => leaveChain(db, chainId, above),
    checkpoints: (chainId, atOrBelow, limit) => listCheckpoints(db, chainId, atOrBelow, limit),
    upsertPayments: (payments) => upsertPayments(db, differences, payments),
    paymentsForChange: (selector) => paymentsForChange(db, differences, selector),
    setStatus: (paymentId, status) => setStatus(db, paymentId, status),
    insertSnapshots: (snapshots) => insertSnapshots(db, differences, snapshots),
    findUpdate: (updateId) => findUpdate(db, updateId),
    insertUpdate: (update) => insertUpdate(db, update),
    waitingUpdates: (keys) => waitingUpdates(db, differences, keys),
    settleUpdate: (updateId, result) => settleUpdate(db, updateId, result),
  }
}
