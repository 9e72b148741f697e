/** The operations of one transaction. @module */
import type { StoreTransaction } from '@payment-integration/core/ports'
import { listCheckpoints, readCheckpoint, writeCheckpoint } from './chains/checkpoints.js'
import { setCoverage } from './chains/coverage.js'
import { forgetDeposits, settleDeposit, upsertDeposits } from './chains/deposits.js'
import { addProof } from './chains/proofs.js'
import type { Connection, Differences } from './engine.js'
import { checkInteger } from './internal/checks.js'
import { leaveAbove, leavePayments, overduePayments, paymentsInBlocks } from './payments/off-chain.js'
import { paymentsForChange, setDropped, setStatus } from './payments/payment-changes.js'
import { upsertPayments } from './payments/upsert-payments.js'
import { insertSnapshots } from './snapshots.js'
import { findUpdate, insertUpdate, settleUpdate, waitingUpdates } from './updates.js'

/** Binds the operations to a transaction's connection. */
export function createStoreTransaction(db: Connection, differences: Differences): StoreTransaction {
  /** The heights of chains that this transaction has locked, or null: nobody else moves them until it ends. */
  const heights = new Map<number, number | null>()
  return {
    async lockChain(chainId) {
      await differences.lockChain(db, checkInteger(chainId, 'chainId'), 'exclusive')
      const checkpoint = await readCheckpoint(db, chainId)
      heights.set(chainId, checkpoint?.blockNumber ?? null)
      return checkpoint
    },
    shareChain: async (chainId) => differences.lockChain(db, checkInteger(chainId, 'chainId'), 'shared'),
    async setCheckpoint(chainId, to, below = []) {
      const known = heights.get(chainId)
      const from = known === undefined ? ((await readCheckpoint(db, chainId))?.blockNumber ?? null) : known
      await writeCheckpoint(db, differences, { chainId, to, below, from })
      if (known !== undefined) heights.set(chainId, to.blockNumber)
    },
    async leaveChain(chainId, above) {
      checkInteger(chainId, 'chainId')
      checkInteger(above, 'above')
      await leaveAbove(db, chainId, above)
      await forgetDeposits(db, chainId, above)
    },
    leavePayments: (paymentIds) => leavePayments(db, differences, paymentIds),
    checkpoints: (chainId, atOrBelow, limit) => listCheckpoints(db, chainId, atOrBelow, limit),
    upsertPayments: (payments) => upsertPayments(db, differences, payments),
    paymentsInBlocks: (chainId, from, to) => paymentsInBlocks(db, chainId, from, to),
    overduePayments: (chainId, atOrBelow, limit) => overduePayments(db, differences, { chainId, atOrBelow, limit }),
    setDropped: (paymentId, dropped) => setDropped(db, paymentId, dropped),
    paymentsForChange: (selector) => paymentsForChange(db, differences, selector),
    setStatus: (paymentId, status) => setStatus(db, paymentId, status),
    insertSnapshots: (snapshots) => insertSnapshots(db, differences, snapshots),
    addProof: (chainId, proven) => addProof(db, chainId, proven),
    setCoverage: (chainId, coverage) => setCoverage(db, chainId, coverage),
    upsertDeposits: (deposits) => upsertDeposits(db, differences, deposits),
    settleDeposit: (id) => settleDeposit(db, id),
    findUpdate: (updateId) => findUpdate(db, updateId),
    insertUpdate: (update) => insertUpdate(db, update),
    waitingUpdates: (keys) => waitingUpdates(db, differences, keys),
    settleUpdate: (updateId, result) => settleUpdate(db, updateId, result),
  }
}
