/** Reads what an integration's cell knows of payments. Source: docs/decisions/cells.md. @module */
import type { MovedPaymentKey, MovedVersion, StoredMove } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import { attemptRecord } from '../deliveries/attempt-row.js'
import type { Connection, SqlDialect } from '../engine.js'
import { lowestReplayable } from '../history/segments.js'
import { hexBytes, hexOf } from '../internal/hex.js'
import { integer, nullableInteger } from '../internal/values.js'
import { withStatuses } from '../payments/locked-payments.js'
import { type FactRow, factColumns } from '../payments/payment-row.js'
import type { OutboxRow, SnapshotRow } from '../schema/tables.js'
import { snapshotBytes } from '../snapshot-row.js'

/** The primary payments of an integration in a range of ids, locked until the transaction ends. */
export async function paymentsOf(
  db: Connection,
  dialect: SqlDialect,
  address: string,
  range: { readonly after: number; readonly upTo: number },
): Promise<StoredMove[]> {
  const rows = await db
    .selectFrom('payments')
    .select(factColumns)
    .where('id', '>', range.after)
    .where('id', '<=', range.upTo)
    .where('integration', '=', hexBytes(address))
    .where('is_primary', '=', 1)
    .orderBy('id')
    .modifyEnd(dialect.forUpdate)
    .execute()
  return storedMoves(db, dialect, rows)
}

/** The primary payments under these keys, locked until the transaction ends. */
export async function paymentsUnder(
  db: Connection,
  dialect: SqlDialect,
  keys: readonly MovedPaymentKey[],
): Promise<StoredMove[]> {
  if (keys.length === 0) return []
  const wanted = new Set(keys.map(({ chainId, txHash, ordinal }) => `${chainId}:${txHash}:${ordinal}`))
  const rows = await db
    .selectFrom('payments')
    .select(factColumns)
    .where(
      'tx_hash',
      'in',
      [...new Set(keys.map(({ txHash }) => txHash))].map((txHash) => hexBytes(txHash)),
    )
    .where('is_primary', '=', 1)
    .orderBy('tx_hash')
    .orderBy('chain_id')
    .orderBy('ordinal')
    .modifyEnd(dialect.forUpdate)
    .execute()
  const named = rows.filter((row) => wanted.has(`${row.chain_id}:${hexOf(row.tx_hash)}:${row.ordinal}`))
  return storedMoves(db, dialect, named)
}

async function storedMoves(db: Connection, dialect: SqlDialect, rows: readonly FactRow[]): Promise<StoredMove[]> {
  if (rows.length === 0) return []
  const payments = await withStatuses(db, dialect, rows)
  const lowest = await lowestReplayable(db, dialect)
  const ids = payments.map(({ id }) => Number(id))
  const snapshots = await db
    .selectFrom('snapshots')
    .selectAll()
    .where('payment_id', 'in', ids)
    .orderBy('version')
    .execute()
  const attempts = await db
    .selectFrom('attempts')
    .innerJoin('snapshots', 'snapshots.id', 'attempts.delivery_id')
    .selectAll('attempts')
    .where('snapshots.payment_id', 'in', ids)
    .orderBy('attempts.number')
    .execute()
  const outbox = await db
    .selectFrom('outbox')
    .innerJoin('snapshots', 'snapshots.id', 'outbox.id')
    .selectAll('outbox')
    .where('snapshots.payment_id', 'in', ids)
    .execute()
  const attemptsOf = groupBy(attempts, (row) => integer(row.delivery_id))
  const pendingOf = new Map(outbox.map((row) => [integer(row.id), row]))
  const versionsOf = groupBy(snapshots, (row) => integer(row.payment_id))
  return payments.map(({ id, chainId, txHash, ordinal, blockNumber, dropped, integrationAddress, ...rest }) => {
    const own = versionsOf.get(Number(id)) ?? []
    const { version, state, recipient, invoice } = rest
    return {
      id,
      integrationAddress,
      chainId,
      txHash,
      ordinal,
      blockNumber,
      dropped,
      status: { version, state, recipient, invoice },
      closed: own.filter((row) => integer(row.id) < lowest).map((row) => integer(row.version)),
      versions: own.map((row): MovedVersion => {
        const subject = { chain_id: chainId, tx_hash: Buffer.from(txHash.slice(2), 'hex'), version: row.version }
        const attempted = attemptsOf.get(integer(row.id)) ?? []
        return {
          ...versionOf(row, pendingOf.get(integer(row.id))),
          body: Buffer.from(snapshotBytes(dialect.bytesOf(row.body), integrationAddress, subject)).toString(),
          attempts: attempted.map((each) => ({ number: integer(each.number), ...attemptRecord(each) })),
        }
      }),
    }
  })
}

function versionOf(
  row: Selectable<SnapshotRow>,
  pending: Selectable<OutboxRow> | undefined,
): Omit<MovedVersion, 'body' | 'attempts'> {
  return {
    version: integer(row.version),
    createdAt: integer(row.created_at),
    notified: row.integration !== null,
    undelivered: row.undelivered as MovedVersion['undelivered'],
    pending:
      pending === undefined
        ? null
        : {
            lane: integer(pending.lane),
            dueAt: integer(pending.due_at),
            replayedAt: nullableInteger(pending.replayed_at),
            attempted: integer(pending.attempted),
            scheduleFrom: integer(pending.schedule_from),
          },
  }
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => number): ReadonlyMap<number, readonly Row[]> {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}
