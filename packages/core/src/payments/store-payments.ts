/** Stores payments from the chain with ordinals and snapshots. Source: docs/architecture.md. @module */
import type { ServiceEvent } from '../events.js'
import { groupBy } from '../internal/values.js'
import type { StoreTransaction } from '../ports/store.js'
import { createDecisions, toSelectors } from './apply-updates.js'
import { insertSnapshots, restoreDropped, storeStatusChanges } from './change-status.js'
import type { PaymentFacts, StoredPayment } from './payment.js'
import type { NewPayment } from './payment-store.js'

/**
 * Assigns ordinals to all payments of `routers` in blocks that were indexed before; `stored` has all stored ones. A
 * read with fewer routers sees only a part of a transaction, so a position in it may be the ordinal of another payment.
 * - A stored log keeps its ordinal.
 * - A new log takes over the record of a payment of the same integration that these routers no longer emit, if possible
 * the record with the same ordinal.
 * - Any other log takes its position, or the next free ordinal.
 * A stored primary payment stays primary.
 */
export function matchOrdinals(
  readPayments: readonly PaymentFacts[],
  stored: readonly StoredPayment[],
  routers: readonly string[],
): NewPayment[] {
  const listed = new Set(routers)
  const ordinalByLog = new Map(stored.map((row) => [toLogKey(row), row.ordinal]))
  const takenOrdinals = new Set(stored.map(toOrdinalKey))
  const takenPrimaries = new Set(stored.filter(({ primary }) => primary).map(toPrimaryKey))
  const readLogs = new Set(readPayments.map(toLogKey))
  const replaceable = groupBy(
    stored.filter((row) => isReadBy(listed, row) && !readLogs.has(toLogKey(row))),
    toPrimaryKey,
  )

  function assignOrdinal(facts: PaymentFacts): number {
    const storedOrdinal = ordinalByLog.get(toLogKey(facts))
    if (storedOrdinal !== undefined) return storedOrdinal
    const fitting = replaceable.get(toPrimaryKey(facts)) ?? []
    const sameOrdinalIndex = fitting.findIndex((row) => row.ordinal === facts.ordinal)
    const [record] = fitting.splice(Math.max(0, sameOrdinalIndex), 1)
    if (record !== undefined) return record.ordinal
    const { txHash } = facts
    let { ordinal } = facts
    while (takenOrdinals.has(toOrdinalKey({ txHash, ordinal }))) ordinal += 1
    takenOrdinals.add(toOrdinalKey({ txHash, ordinal }))
    return ordinal
  }
  const numbered = choosePrimary(readPayments.map((facts) => ({ ...facts, ordinal: assignOrdinal(facts) })))
  return numbered.map(({ facts, primary }) => ({ facts, primary: primary && !takenPrimaries.has(toPrimaryKey(facts)) }))
}

/** Whether a read of these routers returns a stored payment. */
export function isReadBy(routers: ReadonlySet<string>, { router, source, chainId }: StoredPayment): boolean {
  return routers.has(router.address) && source.chainId === chainId
}

/** Identifies a log while its block is on the chain. Some chains count log indexes per transaction. */
function toLogKey({ txHash, blockHash, logIndex }: PaymentFacts): string {
  return `${txHash}:${blockHash}:${logIndex}`
}

export function toOrdinalKey({ txHash, ordinal }: Pick<PaymentFacts, 'txHash' | 'ordinal'>): string {
  return `${txHash}:${ordinal}`
}

/** Marks the payment with the lowest ordinal per transaction and named integration (or none). Keeps the order. */
export function choosePrimary(payments: readonly PaymentFacts[]): NewPayment[] {
  const lowest = new Map<string, number>()
  for (const facts of payments) {
    const key = toPrimaryKey(facts)
    const current = lowest.get(key)
    if (current === undefined || facts.ordinal < current) lowest.set(key, facts.ordinal)
  }
  return payments.map((facts) => ({ facts, primary: lowest.get(toPrimaryKey(facts)) === facts.ordinal }))
}

function toPrimaryKey({ chainId, txHash, integrationAddress }: PaymentFacts): string {
  return `${chainId}:${txHash}:${integrationAddress ?? ''}`
}

/** The most payments per part, which bounds the memory for rows and snapshots. */
const paymentsPerPart = 512

/**
 * Stores payments. A new payment gets version 1, its snapshot and its waiting updates; a dropped one gets its state
 * back; any other changes only its chain facts. Call after `lockChain`. Resolves the events to publish.
 */
export async function storePayments(tx: StoreTransaction, payments: readonly NewPayment[]): Promise<ServiceEvent[]> {
  const events: ServiceEvent[] = []
  for (let from = 0; from < payments.length; ) {
    let to = Math.min(payments.length, from + paymentsPerPart)
    // Never splits a block, so that a waiting update finds all payments of its transaction.
    while (to < payments.length && payments[to]?.facts.blockHash === payments[to - 1]?.facts.blockHash) to += 1
    for (const event of await storePart(tx, payments.slice(from, to))) events.push(event)
    from = to
  }
  return events
}

async function storePart(tx: StoreTransaction, payments: readonly NewPayment[]): Promise<ServiceEvent[]> {
  const { inserted, returned } = await tx.upsertPayments(payments)
  const primary = inserted.filter((payment) => payment.primary)
  const firstStatuses = primary.map((payment) => ({ payment, status: payment }))
  await insertSnapshots(tx, firstStatuses)
  const settled = await settleWaiting(tx, primary)
  return [...inserted.map(buildIndexedEvent), ...settled, ...(await restoreDropped(tx, returned))]
}

/** Applies the updates that wait for payments, in the order they were received. */
async function settleWaiting(tx: StoreTransaction, primary: readonly StoredPayment[]): Promise<ServiceEvent[]> {
  const waiting = primary.length === 0 ? [] : await tx.waitingUpdates(primary)
  if (waiting.length === 0) return []
  const payments = await tx.paymentsForChange(...toSelectors(waiting))
  const { isPaymentStored, decide, changes, events } = createDecisions(payments)
  await tx.settleUpdates(waiting.filter(isPaymentStored).map((update) => ({ id: update.id, ...decide(update) })))
  await storeStatusChanges(tx, changes)
  return events
}

function buildIndexedEvent(payment: StoredPayment): ServiceEvent {
  const { chainId, txHash, integrationAddress, blockNumber, blockTimestamp, ordinal, primary } = payment
  const paymentKey = { chainId, txHash, integrationAddress }
  return primary
    ? { type: 'payment.indexed', blockNumber, blockTimestamp, ...paymentKey }
    : { type: 'payment.additional', ordinal, blockNumber, ...paymentKey }
}
