/** Changes the status of a payment. Source: docs/decisions/states-and-versions.md, reorganizations.md. @module */
import { isDeepStrictEqual } from 'node:util'
import type { PaymentState, ProcessorUpdate, SnapshotBody } from '@payment-integration/contract'
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store.js'
import { copyInvoice, copyRecipient, type PaymentStatus, type StoredPayment } from './payment.js'
import type { PaymentSelector } from './payment-store.js'

const refunds = ['refund_pending', 'refund_success', 'refund_failure'] as const

/** The states that may follow each state. A payment without a state may take any. */
const transitions: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  pending: ['success', 'failure', ...refunds],
  success: refunds,
  failure: refunds,
  refund_pending: ['refund_success', 'refund_failure'],
  refund_failure: ['refund_pending', 'refund_success'],
  refund_success: [],
}

/** Receipts are polled in these states: the outcome is open. */
export const unsettledStates: readonly (PaymentState | null)[] = [null, 'pending', 'refund_pending']

/** `same`: nothing changes. `rejected`: the whole update is rejected. */
export type TransitionDecision = 'same' | 'allowed' | 'rejected'

/**
 * Decides whether a payment may change its state. `null` is a payment without a state; no state returns to it.
 * @example
 * import { decideTransition } from '@payment-integration/core'
 * decideTransition('success', 'pending') // 'rejected'
 */
export function decideTransition(from: PaymentState | null, to: PaymentState | null): TransitionDecision {
  if (from === to) return 'same'
  if (from === null) return 'allowed'
  return to !== null && transitions[from].includes(to) ? 'allowed' : 'rejected'
}

/** The decision on an update. `rejected`: the payment is unchanged, and the reason is recorded. */
export interface StatusDecision {
  readonly outcome: 'applied' | 'unchanged' | 'rejected'
  /** Why the update was rejected, or null. */
  readonly reason: string | null
  /** Null: the payment is unchanged. */
  readonly status: PaymentStatus | null
}

/** Applies or rejects an update as a whole. An absent field stays, null clears a field. */
export function changeStatusByUpdate(
  status: PaymentStatus,
  update: Pick<ProcessorUpdate, 'state' | 'recipient' | 'invoice'>,
): StatusDecision {
  const state = update.state === undefined ? status.state : update.state
  const recipient = update.recipient === undefined ? status.recipient : copyRecipient(update.recipient)
  const invoice = update.invoice === undefined ? status.invoice : copyInvoice(update.invoice)
  const decision = decideTransition(status.state, state)
  if (decision === 'rejected')
    return { outcome: 'rejected', reason: `state ${status.state} cannot become ${state}`, status: null }
  if (decision === 'same' && isDeepStrictEqual([recipient, invoice], [status.recipient, status.invoice]))
    return { outcome: 'unchanged', reason: null, status: null }
  return { outcome: 'applied', reason: null, status: { version: nextVersion(status), state, recipient, invoice } }
}

/** Every change of a payment raises its version by one, and no version is used twice (docs/interface.md 3). */
const nextVersion = ({ version }: { readonly version: number }) => version + 1

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

/** Sets the state of a payment: version + 1, snapshot and outbox row. Transition rules bind only updates. */
async function changeStateByReorg(
  tx: StoreTransaction,
  payment: StoredPayment,
  state: PaymentState | null,
): Promise<ServiceEvent[]> {
  const { state: from, chainId, txHash, integrationAddress, recipient, invoice } = payment
  if (from === state) return []
  const version = nextVersion(payment)
  await storeStatusChanges(tx, [{ payment, status: { version, state, recipient, invoice } }])
  return [{ type: 'payment.changed', version, from, to: state, chainId, txHash, integrationAddress }]
}

/** The most payments that one transaction drops: each may cost a snapshot and a delivery. */
const maxDropsPerCommit = 500
/** Blocks after finality to find a deposit's fulfillment in another block before its payment drops. */
export const fulfillmentGraceBlocks = 1_000

/**
 * Drops each payment that left the chain and whose former height is final; a primary payment becomes `failure` with
 * version + 1. Call after `lockChain`, once the payments up to `indexedTo` are stored. `hasMore`: some are left.
 * `finalityBlocks` null: no block is ever final, and nothing is dropped.
 */
export async function dropOverdue(
  tx: StoreTransaction,
  chain: { readonly chainId: number; readonly indexedTo: number; readonly finalityBlocks: number | null },
): Promise<{ readonly events: readonly ServiceEvent[]; readonly hasMore: boolean }> {
  const { chainId, indexedTo, finalityBlocks } = chain
  if (finalityBlocks === null || indexedTo < finalityBlocks) return { events: [], hasMore: false }
  const atOrBelow = indexedTo - finalityBlocks
  const awaitedAtOrBelow = atOrBelow - fulfillmentGraceBlocks
  const overdue = await tx.overduePayments({ chainId, atOrBelow, limit: maxDropsPerCommit, awaitedAtOrBelow })
  const events: ServiceEvent[] = []
  for (const payment of overdue) {
    if (payment.primary) events.push(...(await changeStateByReorg(tx, payment, 'failure')))
    await tx.setDropped(payment.id, { formerState: payment.state })
  }
  return { events, hasMore: overdue.length === maxDropsPerCommit }
}

/** Restores the state that a payment had when it was dropped, with version + 1, unless an update changed it since. */
export async function restoreDropped(
  tx: StoreTransaction,
  returned: readonly StoredPayment[],
): Promise<ServiceEvent[]> {
  const events: ServiceEvent[] = []
  for (const payment of returned) {
    const { id, primary, state, dropped } = payment
    if (primary && state === 'failure' && dropped !== null)
      events.push(...(await changeStateByReorg(tx, payment, dropped.formerState)))
    await tx.setDropped(id, null)
  }
  return events
}
