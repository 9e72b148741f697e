/** Stores processor updates under their ids. Source: docs/decisions/processor-updates.md. @module */
import type { ProcessorUpdate, UpdateOutcome } from '@payment-integration/contract'
import type {
  ConsoleUpdate,
  NewUpdate,
  PaymentSelector,
  SettledUpdate,
  StoredUpdate,
} from '@payment-integration/core/internal'
import { sql } from 'kysely'
import type { Connection, SqlDialect } from '../engine.js'
import { listColumns, runBulk, runPrepared, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, parseId, toHex, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

type ResultColumns = Pick<Tables['updates'], 'id' | 'outcome' | 'reason' | 'version'>
export const consoleColumns = ['id', 'outcome', 'reason', 'version', 'body'] as const

export function toConsoleUpdate(row: Pick<Tables['updates'], (typeof consoleColumns)[number]>): ConsoleUpdate {
  return { ...toResult(row), update: unpack<ProcessorUpdate>(row.body) }
}

const toResult = ({ id, outcome, reason, version }: ResultColumns) => ({
  id,
  outcome: outcome as UpdateOutcome,
  reason: unpack<string>(reason),
  version: toNullableNumber(version),
})

export async function findUpdates(db: Connection, updateIds: readonly string[]): Promise<StoredUpdate[]> {
  type Row = ResultColumns & { fingerprint: Uint8Array | string }
  const rows = await runPrepared<Row>(db, findText(db.dialect, updateIds))
  return rows.map((row) => ({ ...toResult(row), fingerprint: toHex(row.fingerprint) }))
}

export function findText(dialect: SqlDialect, updateIds: readonly string[]): StatementText {
  return (parameter) =>
    `select u.id, u.fingerprint, u.outcome, u.reason, u.version from ${dialect.name('updates')} u
     where ${dialect.oneOf('u.id', 'text', updateIds, parameter)}`
}

const insertColumns = listColumns({
  id: 'text',
  fingerprint: 'hex',
  payment_id: 'integer',
  outcome: 'text',
  reason: 'text',
  version: 'integer',
  body: 'text',
  chain_id: 'integer',
  tx_hash: 'hex',
})
const insertNames = insertColumns.map(({ name }) => name).join(', ')

/** Stores updates in order, except those whose id is stored already. Resolves the ids that were stored now. */
export async function insertUpdates(db: Connection, updates: readonly NewUpdate[]): Promise<string[]> {
  const text = () =>
    `insert into ${db.dialect.name('updates')} (${insertNames}) select ${insertNames} from v where true
     on conflict (id) do nothing returning id`
  const inserted = await runBulk<{ id: string }>(db, insertColumns, updates.map(toInsertValues), text)
  return inserted.map(({ id }) => id)
}

function toInsertValues({ update, fingerprint, paymentId, outcome, reason, version }: NewUpdate): unknown[] {
  const isWaiting = outcome === 'waiting'
  return [
    update.id,
    fingerprint,
    paymentId === null ? null : parseId(paymentId, 'paymentId'),
    outcome,
    pack(reason),
    version,
    // The body of an applied update is not stored: the snapshot of the new version shows what the update changed.
    isWaiting || outcome === 'rejected' ? pack(update) : null,
    ...(isWaiting ? [checkInteger(Number(update.chainId), 'chainId'), update.txHash] : [null, null]),
  ]
}

export const keyColumns = listColumns({ chain_id: 'integer', tx_hash: 'hex' })

export async function waitingUpdates(db: Connection, keys: readonly PaymentSelector[]): Promise<ProcessorUpdate[]> {
  // Usually no update waits: this spares a query with up to 50,000 keys.
  if ((await hasWaitingQuery(db).execute()).length === 0) return []
  const distinct = new Map(keys.map(({ chainId, txHash }) => [`${chainId}:${txHash}`, [chainId, txHash]]))
  const text = () => waitingText(db.dialect)
  const rows = await runBulk<{ seq: Integer; body: string }>(db, keyColumns, [...distinct.values()], text)
  return rows.sort((a, b) => toNumber(a.seq) - toNumber(b.seq)).map(({ body }) => unpack<ProcessorUpdate>(body))
}

export function waitingText(dialect: SqlDialect): string {
  return `select u.seq, u.body from v
    join ${dialect.name('updates')} as u on u.chain_id = v.chain_id and u.tx_hash = v.tx_hash
    where u.outcome = 'waiting'`
}

export function hasWaitingQuery(db: Connection) {
  const waiting = db.selectFrom('updates').select('chain_id').where('outcome', '=', sql.lit('waiting'))
  return waiting.orderBy('chain_id').orderBy('tx_hash').orderBy('seq').limit(1)
}

export const settledColumns = listColumns({
  update_id: 'text',
  payment_id: 'integer',
  outcome: 'text',
  reason: 'text',
  version: 'integer',
})

/** @throws RangeError When one of the updates is not waiting. */
export async function settleUpdates(db: Connection, settled: readonly SettledUpdate[]): Promise<void> {
  const rows = settled.map(({ id, paymentId, outcome, reason, version }) => [
    id,
    parseId(paymentId, 'paymentId'),
    outcome,
    pack(reason),
    version,
  ])
  const settledRows = await runBulk(db, settledColumns, rows, () => settleText(db.dialect))
  if (settledRows.length === rows.length) return
  const ids = settled.map(({ id }) => id).join(' or ')
  throw new RangeError(`There is no waiting update ${ids}; nothing was recorded.`)
}

// Only a waiting update has a `chain_id`. A condition on `outcome` could make a plan read all waiting updates.
export function settleText(dialect: SqlDialect): string {
  return `update ${dialect.name('updates')} as u
    set payment_id = v.payment_id, outcome = v.outcome, reason = v.reason, version = v.version,
      body = case when v.outcome = 'rejected' then u.body end, chain_id = null, tx_hash = null
    from v where u.id = v.update_id and u.chain_id is not null returning id`
}
