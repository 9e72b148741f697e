/** Builds and stores the snapshot of each new version. Source: docs/interface.md 2.3. @module */
import type { SnapshotBody } from '@payment-integration/contract'
import type { StoreTransaction } from '../ports/store.js'
import { copyInvoice, copyRecipient, type PaymentStatus, type StoredPayment } from './payment.js'
import type { PaymentSelector } from './payment-store.js'

const encoder = new TextEncoder()

export type SnapshotSubject = PaymentSelector & { readonly integrationAddress: string }

/** Builds the snapshot with every field present, in the order of docs/interface.md 2.3. */
export function buildSnapshot(subject: SnapshotSubject, status: PaymentStatus): SnapshotBody {
  return {
    integrationAddress: subject.integrationAddress,
    chainId: String(subject.chainId),
    txHash: subject.txHash,
    version: status.version,
    state: status.state,
    recipient: copyRecipient(status.recipient),
    invoice: copyInvoice(status.invoice),
  }
}

/** The snapshot as UTF-8 JSON: built once per version, stored, and sent unchanged in every attempt. */
export function buildSnapshotBytes(subject: SnapshotSubject, status: PaymentStatus): Uint8Array {
  return encoder.encode(JSON.stringify(buildSnapshot(subject, status)))
}

/** A payment with its new status. The caller has locked the payment. */
export interface StatusChange {
  readonly payment: StoredPayment
  readonly status: PaymentStatus
}

/** Stores the last status of each payment, and a snapshot of every status whose payment has an integration. */
export async function storeStatusChanges(tx: StoreTransaction, changes: readonly StatusChange[]): Promise<void> {
  await tx.setStatuses(new Map(changes.map(({ payment, status }) => [payment.id, status])))
  await insertSnapshots(tx, changes)
}

/** Stores a snapshot of each status whose payment has an integration. */
export async function insertSnapshots(tx: StoreTransaction, changes: readonly StatusChange[]): Promise<void> {
  const snapshots = changes.flatMap(({ payment: { id: paymentId, integrationAddress, chainId, txHash }, status }) => {
    if (integrationAddress === null) return []
    const body = buildSnapshotBytes({ integrationAddress, chainId, txHash }, status)
    return [{ paymentId, version: status.version, body, integrationAddress, chainId, txHash }]
  })
  await tx.insertSnapshots(snapshots)
}
