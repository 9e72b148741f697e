/** Inserting payments, or moving those that were mined again. @module */
import type { NewPayment, PaymentFacts, StoredPayment } from '@payment-integration/core/ports'
import type { Connection, Differences } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'
import { keepPlaces } from './moves.js'
import { insertColumns, insertValues } from './payment-row.js'

/** The key of a payment. */
const keyOf = (chainId: Integer, txHash: string, ordinal: Integer) => `${chainId}:${txHash}:${ordinal}`
const factsKey = ({ chainId, txHash, ordinal }: PaymentFacts) => keyOf(chainId, txHash, ordinal)

const names = insertColumns.map(({ name }) => name)
/** Its key, whom it is shown to and its status: all that a later call leaves as it is. */
const keptColumns: ReadonlySet<string> = new Set([
  'chain_id',
  'tx_hash',
  'ordinal',
  'integration',
  'is_primary',
  'version',
])
const takenColumns = names.filter((name) => !keptColumns.has(name))

/**
 * Inserts payments under (chainId, txHash, ordinal); those that are stored take the chain's facts as they are given now:
 * in another block the same call may swap at another rate.
 * Of two with the same key in one call the last one counts.
 * @returns The inserted ones, in the order given.
 */
export async function upsertPayments(
  db: Connection,
  differences: Differences,
  payments: readonly NewPayment[],
): Promise<StoredPayment[]> {
  const given = new Map(payments.map((payment) => [factsKey(payment.facts), payment]))
  const ids = await insertMissing(db, differences, [...given.values()])
  const known = [...given].filter(([key]) => !ids.has(key)).map(([, { facts }]) => facts)
  await keepPlaces(db, differences, known)
  await moveKnown(db, differences, known)
  return [...given].flatMap(([key, { facts, primary }]) => {
    const id = ids.get(key)
    return id === undefined
      ? []
      : [{ ...facts, id, primary, offChain: false, version: 1, state: null, recipient: null, invoice: null }]
  })
}

async function insertMissing(db: Connection, differences: Differences, payments: readonly NewPayment[]) {
  const rows = payments.map(({ facts, primary }) => insertValues(facts, primary, 1))
  const inserted = await bulk<{ id: Integer; chain_id: Integer; tx_hash: string; ordinal: Integer }>(
    db,
    differences,
    insertColumns,
    rows,
    (source) =>
      `insert into ${differences.name('payments')} (${names.join(', ')}) ${source}
       on conflict (chain_id, tx_hash, ordinal) do nothing returning id, chain_id, tx_hash, ordinal`,
  )
  return new Map(
    inserted.map((row) => [keyOf(integer(row.chain_id), row.tx_hash, integer(row.ordinal)), String(row.id)]),
  )
}

// Rows that already say the same are left alone: indexing a range again costs no writes.
async function moveKnown(db: Connection, differences: Differences, payments: readonly PaymentFacts[]): Promise<void> {
  const rows = payments.map((facts) => insertValues(facts, false, 1))
  await bulk(
    db,
    differences,
    insertColumns,
    rows,
    (source) =>
      `with v (${names.join(', ')}) as (${source})
       update ${differences.name('payments')} as p
       set ${takenColumns.map((name) => `${name} = v.${name}`).join(', ')}
       from v
       where p.chain_id = v.chain_id and p.tx_hash = v.tx_hash and p.ordinal = v.ordinal
         and (${takenColumns.map((name) => `p.${name} is distinct from v.${name}`).join(' or ')})`,
  )
}
