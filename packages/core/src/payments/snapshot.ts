/**
 * Builds the snapshot bytes, one byte string for each version. Source: docs/interface.md 2.3;
 * docs/decisions/version.md.
 * @module
 */
import type { SnapshotBody } from '@payment-integration/contract'
import { copyInvoice, copyRecipient } from './merchant.js'
import type { PaymentStatus } from './record.js'

const encoder = new TextEncoder()

/** The payment that a snapshot describes. */
export interface SnapshotSubject {
  /** Lowercased. */
  readonly integrationAddress: string
  readonly chainId: number
  readonly txHash: string
}

/** Builds the snapshot with every field present, in the order of docs/interface.md 2.3. */
export function snapshotOf(subject: SnapshotSubject, status: PaymentStatus): SnapshotBody {
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
export function snapshotBytes(subject: SnapshotSubject, status: PaymentStatus): Uint8Array {
  return encoder.encode(JSON.stringify(snapshotOf(subject, status)))
}
