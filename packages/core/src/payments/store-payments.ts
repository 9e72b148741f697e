/**
 * Stores payments from the chain with their snapshots and waiting updates. Source: docs/decisions/version.md,
 * docs/decisions/processor-updates.md, docs/decisions/reorganisations.md.
 * @module
 */
import type { ServiceEvent } from '../events.js'
import type { NewPayment, StoreTransaction } from '../ports/store-transaction.js'
import { decideInOrder, selectorsOf } from '../updates/decide-in-order.js'
import { emitFirstSnapshots, emitSnapshots } from './emit-snapshot.js'
import type { StoredPayment } from './record.js'
import { restoreDropped } from './restore-dropped.js'

/**
 * Payments stored at a time: rows and snapshot bytes of one part alone are in memory.
 */
const paymentsPerPart = 512

/**
 * Stores payments. A new payment gets version 1, its snapshot and its waiting updates. A dropped payment gets its state
 * back. Any other payment changes in its chain facts alone. Call after `lockChain`.
 *
 * @returns Events to publish after the commit.
 */
export async function storePayments(tx: StoreTransaction, payments: readonly NewPayment[]): Promise<ServiceEvent[]> {
  const events: ServiceEvent[] = []
  for (const part of inParts(payments)) for (const event of await storePart(tx, part)) events.push(event)
  return events
}

/** Never splits a block, so that a waiting update finds all payments of its transaction. */
function* inParts(payments: readonly NewPayment[]): Generator<readonly NewPayment[]> {
  for (let from = 0; from < payments.length; ) {
    let to = Math.min(payments.length, from + paymentsPerPart)
    while (to < payments.length && payments[to]?.facts.blockHash === payments[to - 1]?.facts.blockHash) to += 1
    yield from === 0 && to === payments.length ? payments : payments.slice(from, to)
    from = to
  }
}

async function storePart(tx: StoreTransaction, payments: readonly NewPayment[]): Promise<ServiceEvent[]> {
  const { inserted, returned } = await tx.upsertPayments(payments)
  const primary = inserted.filter((payment) => payment.primary)
  await emitFirstSnapshots(tx, primary)
  const settled = await settleWaiting(tx, primary)
  return [...inserted.map(indexedEvent), ...settled, ...(await restoreDropped(tx, returned))]
}

/** Applies the updates that wait for payments, in the order they were received. */
async function settleWaiting(
  tx: StoreTransaction,
  primary: readonly StoredPayment[],
): Promise<readonly ServiceEvent[]> {
  if (primary.length === 0) return []
  const waiting = await tx.waitingUpdates(primary.map(({ chainId, txHash }) => ({ chainId, txHash })))
  if (waiting.length === 0) return []
  const { decide, changes, events } = decideInOrder(await tx.paymentsForChange(...selectorsOf(waiting)))
  await tx.settleUpdates(waiting.map((update) => ({ id: update.id, ...decide(update) })))
  await emitSnapshots(tx, changes)
  return events
}

function indexedEvent(payment: StoredPayment): ServiceEvent {
  const { chainId, txHash, integrationAddress, blockNumber, blockTimestamp, ordinal, primary } = payment
  const name = { chainId, txHash, integrationAddress }
  return primary
    ? { type: 'payment.indexed', blockNumber, blockTimestamp, ...name }
    : { type: 'payment.additional', ordinal, blockNumber, ...name }
}
