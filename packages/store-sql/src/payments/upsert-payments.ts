/** Inserts payments, or updates those that were mined again. @module */
import type { NewPayment, UpsertedPayments } from '@payment-integration/core/internal'
import type { PaymentFacts, StoredPayment } from '@payment-integration/core/ports'
import type { Connection } from '../engine.js'
import { listColumns, runBulk } from '../internal/statements.js'
import { toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import { storeFormerPositions } from './integration-payments.js'
import { lockedColumns, withStatuses } from './payment-changes.js'
import { insertUnsettled } from './payment-reads.js'
import { type FactRow, insertColumns, toInsertedPayment, toInsertValues } from './payment-row.js'

const keyColumns = listColumns({ chain_id: 'integer', tx_hash: 'hex', ordinal: 'integer' })
const toKeyValues = ({ chainId, txHash, ordinal }: PaymentFacts) => [chainId, txHash, ordinal]
const sameKey = 'p.chain_id = v.chain_id and p.tx_hash = v.tx_hash and p.ordinal = v.ordinal'
const toKey = ({ chainId, txHash, ordinal }: PaymentFacts) => `${chainId}:${txHash}:${ordinal}`

/** The key, the integration and `is_primary`, which never change. */
const unchangingColumns: ReadonlySet<string> = new Set(['chain_id', 'tx_hash', 'ordinal', 'integration', 'is_primary'])
const changingColumns = insertColumns.map(({ name }) => name).filter((name) => !unchangingColumns.has(name))

/**
 * Inserts payments, or updates the on-chain facts of stored ones: in another block the same call may swap at another
 * rate. Of two payments with the same key in one call, the last one is stored.
 */
export async function upsertPayments(db: Connection, payments: readonly NewPayment[]): Promise<UpsertedPayments> {
  const newest = pickLastOfEach(payments)
  if (newest.length === 0) return { inserted: [], returned: [] }
  const rows = newest.map(({ facts, primary }) => toInsertValues(facts, primary))
  const insert = { table: 'payments', columns: insertColumns, rows }
  const { ids, isNew: isNewId } = await db.dialect.insertNumbered(db, insert, 'chain_id, tx_hash, ordinal')
  if (ids !== null) {
    const inserted = newest.map((one, index) => toInsertedPayment(String(ids[index]), one))
    await insertUnsettled(db, inserted)
    return { inserted, returned: [] }
  }
  const stored = await readStoredIds(db, newest)
  const isNew = (index: number) => isNewId(stored.get(index) ?? 0)
  const storedFacts = newest.flatMap(({ facts }, index) => (isNew(index) ? [] : [facts]))
  await storeFormerPositions(db, storedFacts)
  const storedRows = rows.filter((_, index) => !isNew(index))
  await updateStoredFacts(db, storedRows)
  const inserted = newest.flatMap((one, index) =>
    isNew(index) ? [toInsertedPayment(String(stored.get(index)), one)] : [],
  )
  await insertUnsettled(db, inserted)
  await repositionStatuses(db, storedFacts)
  return { inserted, returned: await findDropped(db, storedFacts) }
}

function pickLastOfEach(payments: readonly NewPayment[]): readonly NewPayment[] {
  const hashes = new Set(payments.map(({ facts }) => facts.txHash))
  if (hashes.size === payments.length) return payments
  return [...new Map(payments.map((payment) => [toKey(payment.facts), payment])).values()]
}

async function readStoredIds(db: Connection, payments: readonly NewPayment[]): Promise<Map<number, number>> {
  const columns = [...keyColumns, ...listColumns({ row_index: 'integer' })]
  const values = payments.map(({ facts }, index) => [...toKeyValues(facts), index])
  const text = () => `select p.id, v.row_index from v join ${db.dialect.name('payments')} as p on ${sameKey}`
  const rows = await runBulk<{ id: Integer; row_index: Integer }>(db, columns, values, text)
  return new Map(rows.map(({ id, row_index }) => [toNumber(row_index), toNumber(id)]))
}

// Unchanged rows are not written, so indexing a range again costs no writes.
async function updateStoredFacts(db: Connection, rows: readonly (readonly unknown[])[]): Promise<void> {
  const text = () =>
    `update ${db.dialect.name('payments')} as p
     set ${changingColumns.map((name) => `${name} = v.${name}`).join(', ')}
     from v
     where ${sameKey} and (${changingColumns.map((name) => `p.${name} is distinct from v.${name}`).join(' or ')})`
  await runBulk(db, insertColumns, rows, text)
}

async function repositionStatuses(db: Connection, stored: readonly PaymentFacts[]): Promise<void> {
  const { name } = db.dialect
  const columns = [...keyColumns, ...listColumns({ block_timestamp: 'integer' })]
  const values = stored.map((facts) => [...toKeyValues(facts), facts.blockTimestamp])
  const text = () =>
    `update ${name('statuses')} as s set block_timestamp = v.block_timestamp
     from v join ${name('payments')} as p on ${sameKey}
     where s.payment_id = p.id and s.block_timestamp <> v.block_timestamp`
  await runBulk(db, columns, values, text)
}

async function findDropped(db: Connection, storedFacts: readonly PaymentFacts[]): Promise<StoredPayment[]> {
  const text = () =>
    `select ${lockedColumns} from v join ${db.dialect.name('payments')} as p on ${sameKey}
     where p.dropped is not null${db.dialect.lockRows('p')}`
  const rows = await runBulk<FactRow>(db, keyColumns, storedFacts.map(toKeyValues), text)
  return (await withStatuses(db, rows)).sort((a, b) => Number(a.id) - Number(b.id))
}
