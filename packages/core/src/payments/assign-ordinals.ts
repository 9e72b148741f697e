/** Which places payments take beside those that are stored of the same transactions. @module */
import type { NewPayment } from '../ports/store-transaction.js'
import type { PaymentFacts } from './facts.js'
import { markPrimary } from './mark-primary.js'
import type { StoredPayment } from './record.js'

/**
 * Places payments that were read of blocks that are indexed already. Where some were read without the others of their
 * transaction, or what is stored of it was not whole, their position is not the ordinal that is theirs: read so, one
 * payment would take the record of another.
 * - A log that is stored keeps its ordinal.
 * - Another one takes the record of a payment that these routers do not hold any more, of the same integration, best
 *   the one of its own ordinal.
 * - What is left takes its own ordinal, or the next one that is free.
 *
 * A payment that area (a) shows stays the one that it shows.
 *
 * @param read - All payments of `routers` in these blocks. The order is kept.
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
 * Whether a stored payment would be read again with these routers: it is of one of them, and came from no other chain.
 */
export function isOf(routers: ReadonlySet<string>, { router, source, chainId }: StoredPayment): boolean {
  return routers.has(router.address) && source.chainId === chainId
}

/** The payments of one transaction, each with its place. */
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

/** What a log is known by as long as its block is. */
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
