/** Assigns ordinals to payments of partly indexed transactions. Source: docs/architecture.md. @module */
import type { NewPayment } from '../ports/store-transaction.js'
import type { PaymentFacts } from './facts.js'
import { markPrimary } from './mark-primary.js'
import type { StoredPayment } from './record.js'

/**
 * Assigns ordinals to payments of blocks that were indexed before. A read with fewer routers sees a part of a
 * transaction. So the position of a payment in that read need not be its ordinal, and could be that of another payment.
 * - A stored log keeps its ordinal.
 * - A new log takes over the record of a payment that these routers no longer emit, of the same integration. A record
 *   with the same ordinal comes first.
 * - Any other log takes its position, or the next free ordinal.
 *
 * A stored primary payment stays primary.
 *
 * @param read - All payments of `routers` in these blocks. The result has the same order.
 *
 * @param stored - All payments stored in these blocks.
 */
export function assignOrdinals(
  read: readonly PaymentFacts[],
  stored: readonly StoredPayment[],
  routers: readonly string[],
): NewPayment[] {
  const readByHash = byHash(read)
  const storedByHash = byHash(stored)
  const placed = new Map<PaymentFacts, PaymentFacts>()
  for (const [txHash, facts] of readByHash)
    place(facts, storedByHash.get(txHash) ?? [], new Set(routers)).forEach((each, index) => {
      const original = facts[index]
      if (original !== undefined) placed.set(original, each)
    })
  const isTaken = ({ txHash, integrationAddress }: PaymentFacts) =>
    storedByHash.get(txHash)?.some((row) => row.primary && row.integrationAddress === integrationAddress) ?? false
  return markPrimary(read.map((facts) => placed.get(facts) ?? facts)).map(({ facts, primary }) => ({
    facts,
    primary: primary && !isTaken(facts),
  }))
}

/**
 * Whether a read with these routers returns a stored payment: one of them emitted it, and it came from no other chain.
 */
export function isOf(routers: ReadonlySet<string>, { router, source, chainId }: StoredPayment): boolean {
  return routers.has(router.address) && source.chainId === chainId
}

/** The payments of one transaction, each with its ordinal. */
function place(
  read: readonly PaymentFacts[],
  stored: readonly StoredPayment[],
  routers: ReadonlySet<string>,
): PaymentFacts[] {
  if (stored.length === 0) return [...read]
  const known = new Map(stored.map((row) => [logOf(row), row.ordinal]))
  const present = new Set(read.map(logOf))
  const vacant = stored.filter((row) => isOf(routers, row) && !present.has(logOf(row)))
  const taken = new Set(stored.map(({ ordinal }) => ordinal))

  function ordinalOf(facts: PaymentFacts): number {
    const own = known.get(logOf(facts))
    if (own !== undefined) return own
    const fitting = vacant.filter(({ integrationAddress }) => integrationAddress === facts.integrationAddress)
    const record = fitting.find(({ ordinal }) => ordinal === facts.ordinal) ?? fitting[0]
    if (record !== undefined) {
      vacant.splice(vacant.indexOf(record), 1)
      return record.ordinal
    }
    let { ordinal } = facts
    while (taken.has(ordinal)) ordinal += 1
    taken.add(ordinal)
    return ordinal
  }
  return read.map((facts) => ({ ...facts, ordinal: ordinalOf(facts) }))
}

/** Identifies a log while its block is on the chain. */
function logOf({ blockHash, logIndex }: PaymentFacts): string {
  return `${blockHash}:${logIndex}`
}

function byHash<T extends PaymentFacts>(payments: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const payment of payments) {
    const group = groups.get(payment.txHash)
    if (group === undefined) groups.set(payment.txHash, [payment])
    else group.push(payment)
  }
  return groups
}
