/** Emits a snapshot for each new version: its bytes and an outbox row. Source: docs/interface.md 2.3, 6. @module */
import type { StoreTransaction } from '../ports/store-transaction.js'
import { initialStatus, type PaymentStatus, type StoredPayment } from './record.js'
import { snapshotBytes } from './snapshot.js'

/** A payment with its new status. The caller has locked the payment. */
export interface StatusChange {
  readonly payment: StoredPayment
  readonly status: PaymentStatus
}

/**
 * Writes new statuses and emits a snapshot of each. Of several of one payment the last one stays. A payment without an
 * integration gets no snapshot.
 */
export async function emitSnapshots(tx: StoreTransaction, changes: readonly StatusChange[]): Promise<void> {
  if (changes.length === 0) return
  await tx.setStatuses(new Map(changes.map(({ payment, status }) => [payment.id, status])))
  const snapshots = changes.flatMap(({ payment: { id: paymentId, integrationAddress, chainId, txHash }, status }) => {
    if (integrationAddress === null) return []
    const body = snapshotBytes({ integrationAddress, chainId, txHash }, status)
    return [{ paymentId, version: status.version, body, integrationAddress, chainId, txHash }]
  })
  if (snapshots.length > 0) await tx.insertSnapshots(snapshots)
}

/** Emits version 1 of payments that were just indexed. */
export async function emitFirstSnapshots(tx: StoreTransaction, payments: readonly StoredPayment[]): Promise<void> {
  const snapshots = payments.flatMap(({ id: paymentId, integrationAddress, chainId, txHash }) => {
    if (integrationAddress === null) return []
    const body = snapshotBytes({ integrationAddress, chainId, txHash }, initialStatus)
    return [{ paymentId, version: initialStatus.version, body, integrationAddress, chainId, txHash }]
  })
  if (snapshots.length > 0) await tx.insertSnapshots(snapshots)
}
