/** Emits a snapshot for each new version: its bytes and an outbox row. Source: docs/interface.md 2.3, 6. @module */
import type { StoreTransaction } from '../ports/store-transaction.js'
import { initialStatus, type PaymentStatus, type StoredPayment } from './record.js'
import { snapshotBytes } from './snapshot.js'

/** A payment with its new status. The caller has locked the payment. */
export interface StatusChange {
  readonly payment: StoredPayment
  readonly status: PaymentStatus
}

/** Writes a new status and emits its snapshot. A payment without an integration gets no snapshot. */
export async function emitSnapshot(tx: StoreTransaction, { payment, status }: StatusChange): Promise<void> {
  const { id: paymentId, integrationAddress, chainId, txHash } = payment
  await tx.setStatus(paymentId, status)
  if (integrationAddress === null) return
  const body = snapshotBytes({ integrationAddress, chainId, txHash }, status)
  await tx.insertSnapshots([{ paymentId, version: status.version, body, integrationAddress }])
}

/** Emits version 1 of payments that were just indexed. */
export async function emitFirstSnapshots(tx: StoreTransaction, payments: readonly StoredPayment[]): Promise<void> {
  const snapshots = payments.flatMap(({ id: paymentId, integrationAddress, chainId, txHash }) => {
    if (integrationAddress === null) return []
    const body = snapshotBytes({ integrationAddress, chainId, txHash }, initialStatus)
    return [{ paymentId, version: initialStatus.version, body, integrationAddress }]
  })
  if (snapshots.length > 0) await tx.insertSnapshots(snapshots)
}
