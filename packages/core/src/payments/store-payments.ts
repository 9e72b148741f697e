/** Stores payments from the chain with ordinals and snapshots. Source: docs/architecture.md. @module */
import type { ServiceEvent } from '../events.js'
import type { StoreTransaction } from '../ports/store.js'
import { decideInOrder, toSelectors } from './apply-updates.js'
import type { PaymentFacts, StoredPayment } from './payment.js'
import type { NewPayment } from './payment-store.js'
import { emitSnapshots, insertSnapshots } from './snapshot.js'
import { restoreDropped } from './state.js'

/**
 * Assigns ordinals to payments of blocks that were indexed before. A read with fewer routers sees only a part of a
 * transaction, so a position in that read may be the ordinal of another payment.
 * - A stored log keeps its ordinal.
 * - A new log takes over the record of a payment of the same integration that these routers no longer emit, if possible
 * the record with the same ordinal.
 * - Any other log takes its position, or the next free ordinal.
 * A stored primary payment stays primary.
 * @param read - All payments of `routers` in these blocks. The result has the same order.
 * @param stored - All payments stored in these blocks.
 */
export function matchOrdinals(
  read: readonly PaymentFacts[],
  stored: readonly StoredPayment[],
  routers: readonly string[],
): NewPayment[] {
  const readByHash = groupByHash(read)
  const storedByHash = groupByHash(stored)
  const assigned = new Map<PaymentFacts, PaymentFacts>()
  for (const [txHash, facts] of readByHash)
    assignInTransaction(facts, storedByHash.get(txHash) ?? [], new Set(routers)).forEach((each, index) => {
      const original = facts[index]
      if (original !== undefined) assigned.set(original, each)
    })
  const isTaken = ({ txHash, integrationAddress }: PaymentFacts) =>
    storedByHash.get(txHash)?.some((row) => row.primary && row.integrationAddress === integrationAddress) ?? false
  return choosePrimary(read.map((facts) => assigned.get(facts) ?? facts)).map(({ facts, primary }) => ({
    facts,
    primary: primary && !isTaken(facts),
  }))
}

/** Whether a read of these routers returns a stored payment. */
export function isReadBy(routers: ReadonlySet<string>, { router, source, chainId }: StoredPayment): boolean {
  return routers.has(router.address) && source.chainId === chainId
}

function assignInTransaction(
  read: readonly PaymentFacts[],
  stored: readonly StoredPayment[],
  routers: ReadonlySet<string>,
): PaymentFacts[] {
  if (stored.length === 0) return [...read]
  const ordinalByLog = new Map(stored.map((row) => [toLogKey(row), row.ordinal]))
  const readLogs = new Set(read.map(toLogKey))
  const replaceableRecords = stored.filter((row) => isReadBy(routers, row) && !readLogs.has(toLogKey(row)))
  const takenOrdinals = new Set(stored.map(({ ordinal }) => ordinal))

  function assignOrdinal(facts: PaymentFacts): number {
    const storedOrdinal = ordinalByLog.get(toLogKey(facts))
    if (storedOrdinal !== undefined) return storedOrdinal
    const fitting = replaceableRecords.filter(
      ({ integrationAddress }) => integrationAddress === facts.integrationAddress,
    )
    const record = fitting.find(({ ordinal }) => ordinal === facts.ordinal) ?? fitting[0]
    if (record !== undefined) {
      replaceableRecords.splice(replaceableRecords.indexOf(record), 1)
      return record.ordinal
    }
    let { ordinal } = facts
    while (takenOrdinals.has(ordinal)) ordinal += 1
    takenOrdinals.add(ordinal)
    return ordinal
  }
  return read.map((facts) => ({ ...facts, ordinal: assignOrdinal(facts) }))
}

/** Identifies a log while its block is on the chain. */
function toLogKey({ blockHash, logIndex }: PaymentFacts): string {
  return `${blockHash}:${logIndex}`
}

function groupByHash<T extends PaymentFacts>(payments: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const payment of payments) {
    const group = groups.get(payment.txHash)
    if (group === undefined) groups.set(payment.txHash, [payment])
    else group.push(payment)
  }
  return groups
}

/** Marks the payment with the lowest ordinal per transaction and named integration (or none). Keeps the order. */
export function choosePrimary(payments: readonly PaymentFacts[]): NewPayment[] {
  // Most transactions have one payment: nothing to compare.
  const isAlone = new Map<string, boolean>()
  for (const { txHash } of payments) isAlone.set(txHash, !isAlone.has(txHash))
  const lowest = new Map<string, number>()
  for (const facts of payments) {
    if (isAlone.get(facts.txHash)) continue
    const key = toPrimaryKey(facts)
    const current = lowest.get(key)
    if (current === undefined || facts.ordinal < current) lowest.set(key, facts.ordinal)
  }
  return payments.map((facts) => ({
    facts,
    primary: isAlone.get(facts.txHash) || lowest.get(toPrimaryKey(facts)) === facts.ordinal,
  }))
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
  for (const part of splitParts(payments)) for (const event of await storePart(tx, part)) events.push(event)
  return events
}

/** Never splits a block, so that a waiting update finds all payments of its transaction. */
function* splitParts(payments: readonly NewPayment[]): Generator<readonly NewPayment[]> {
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
  await insertSnapshots(
    tx,
    primary.map((payment) => ({ payment, status: payment })),
  )
  const settled = await settleWaiting(tx, primary)
  return [...inserted.map(buildIndexedEvent), ...settled, ...(await restoreDropped(tx, returned))]
}

/** Applies the updates that wait for payments, in the order they were received. */
async function settleWaiting(
  tx: StoreTransaction,
  primary: readonly StoredPayment[],
): Promise<readonly ServiceEvent[]> {
  if (primary.length === 0) return []
  const waiting = await tx.waitingUpdates(primary.map(({ chainId, txHash }) => ({ chainId, txHash })))
  if (waiting.length === 0) return []
  const { has, decide, changes, events } = decideInOrder(await tx.paymentsForChange(...toSelectors(waiting)))
  await tx.settleUpdates(waiting.filter(has).map((update) => ({ id: update.id, ...decide(update) })))
  await emitSnapshots(tx, changes)
  return events
}

function buildIndexedEvent(payment: StoredPayment): ServiceEvent {
  const { chainId, txHash, integrationAddress, blockNumber, blockTimestamp, ordinal, primary } = payment
  const name = { chainId, txHash, integrationAddress }
  return primary
    ? { type: 'payment.indexed', blockNumber, blockTimestamp, ...name }
    : { type: 'payment.additional', ordinal, blockNumber, ...name }
}
