/** Deliveries, attempts and updates as rows of history. Source: docs/retention.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { DeliveryHistory, HistoryRows, SegmentedKind, UpdateHistory } from '@payment-integration/core/internal'
import { sql } from 'kysely'
import { attemptColumns, toAttemptRecord, toAttemptValues } from '../deliveries/delivery-lists.js'
import type { BulkColumn, Connection } from '../engine.js'
import { listColumns } from '../internal/statements.js'
import { pack, toHex, toNullableHex, toNullableNumber, toNumber, toPlainBytes, unpack } from '../internal/values.js'
import { packBody, toSnapshotBytes } from '../payments/snapshots.js'
import type { IdRange } from './segments.js'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const deliveries: KindRows<'deliveries'> = {
  table: 'snapshots',
  key: 'id',
  async read(db, { from, to }, after, limit) {
    const rows = await db
      .selectFrom('snapshots as s')
      .leftJoin('payments as p', 'p.id', 's.payment_id')
      .select(['s.id', 's.payment_id', 's.created_at', 's.version', 's.integration', 's.undelivered', 's.body'])
      .select(['p.chain_id', 'p.tx_hash', 'p.integration as address'])
      .where('s.id', '>=', after === null ? from : after[0] + 1)
      .where('s.id', '<', to)
      .orderBy('s.id')
      .limit(limit)
      .execute()
    return rows.map(({ chain_id, tx_hash, ...row }) => {
      // A row that is not archived must not be removed.
      if (chain_id === null || tx_hash === null)
        throw new RangeError(`Delivery ${row.id} has no payment ${row.payment_id}; nothing of its segment is removed.`)
      const address = toNullableHex(row.address)
      return {
        deliveryId: String(row.id),
        paymentId: String(row.payment_id),
        chainId: toNumber(chain_id),
        txHash: toHex(tx_hash),
        integrationAddress: address,
        version: toNumber(row.version),
        createdAt: toNumber(row.created_at),
        // Null if no integration was notified.
        status: row.integration === null ? null : ((row.undelivered ?? 'delivered') as DeliveryHistory['status']),
        body: utf8.decode(toSnapshotBytes(toPlainBytes(row.body), address, { ...row, chain_id, tx_hash })),
      }
    })
  },
  getKey: ({ deliveryId }) => [Number(deliveryId)],
  columns: listColumns({
    id: 'integer',
    payment_id: 'integer',
    created_at: 'integer',
    version: 'integer',
    integration: 'hex',
    undelivered: 'text',
    body: 'hex',
  }),
  compared: listColumns({ chain_id: 'integer', tx_hash: 'hex' }),
  ownerExists: (name) => `exists (select 1 from ${name('payments')} p
    where p.id = v.payment_id and p.chain_id = v.chain_id and p.tx_hash = v.tx_hash)`,
  values({ deliveryId, paymentId, createdAt, status, body, ...key }) {
    const { version, integrationAddress, chainId, txHash } = key
    const integration = status === null ? null : integrationAddress
    const undelivered = status === 'delivered' ? null : status
    const hex = `0x${Buffer.from(packBody(Buffer.from(body), key)).toString('hex')}`
    return [Number(deliveryId), Number(paymentId), createdAt, version, integration, undelivered, hex, chainId, txHash]
  },
}

const attempts: KindRows<'attempts'> = {
  table: 'attempts',
  key: 'delivery_id',
  async read(db, { from, to }, after, limit) {
    const [id, attempt = 0] = after ?? [from]
    const rows = await db
      .selectFrom('attempts')
      .selectAll()
      .where('delivery_id', '>=', id)
      .where('delivery_id', '<', to)
      .where(sql<boolean>`(delivery_id, number) > (${id}, ${attempt})`)
      .orderBy('delivery_id')
      .orderBy('number')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      deliveryId: String(row.delivery_id),
      number: toNumber(row.number),
      ...toAttemptRecord(row),
    }))
  },
  getKey: ({ deliveryId, number }) => [Number(deliveryId), number],
  columns: attemptColumns,
  compared: [],
  ownerExists: (name) => `exists (select 1 from ${name('snapshots')} s where s.id = v.delivery_id)`,
  values: (row) => toAttemptValues(Number(row.deliveryId), row.number, row),
}

const updates: KindRows<'updates'> = {
  table: 'updates',
  key: 'seq',
  async read(db, { from, to }, after, limit) {
    const rows = await db
      .selectFrom('updates')
      .select(['seq', 'id', 'payment_id', 'version', 'fingerprint', 'outcome', 'reason', 'body'])
      .where('seq', '>=', after === null ? from : after[0] + 1)
      .where('seq', '<', to)
      .where('outcome', '<>', 'waiting')
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      seq: toNumber(row.seq),
      id: row.id,
      paymentId: row.payment_id === null ? null : String(row.payment_id),
      version: toNullableNumber(row.version),
      fingerprint: toHex(row.fingerprint),
      outcome: row.outcome as UpdateHistory['outcome'],
      reason: unpack<string>(row.reason),
      update: unpack<ProcessorUpdate>(row.body),
    }))
  },
  getKey: ({ seq }) => [seq],
  columns: listColumns({
    seq: 'integer',
    id: 'text',
    payment_id: 'integer',
    version: 'integer',
    fingerprint: 'hex',
    outcome: 'text',
    reason: 'text',
    body: 'text',
  }),
  compared: [],
  ownerExists: (name) =>
    `v.payment_id is null or exists (select 1 from ${name('payments')} p where p.id = v.payment_id)`,
  values({ seq, id, paymentId, version, fingerprint, outcome, reason, update }) {
    const payment = paymentId === null ? null : Number(paymentId)
    return [seq, id, payment, version, fingerprint, outcome, pack(reason), pack(update)]
  },
}

export const rowsByKind: { readonly [Kind in SegmentedKind]: KindRows<Kind> } = { deliveries, attempts, updates }

/** The key of a row; its first number determines the segment. */
export type RowKey = readonly [number, number?]

interface KindRows<Kind extends SegmentedKind> {
  readonly table: string
  /** The first column of the key. */
  readonly key: string
  /** Reads the rows of a range after a key, or from its start. */
  read(db: Connection, range: IdRange, after: RowKey | null, limit: number): Promise<readonly HistoryRows[Kind][]>
  getKey(row: HistoryRows[Kind]): RowKey
  /** The key comes first. */
  readonly columns: readonly BulkColumn[]
  /** The columns that only {@link ownerExists} reads. */
  readonly compared: readonly BulkColumn[]
  /** A condition: the payment or the delivery of row `v` exists. */
  ownerExists(name: (table: string) => string): string
  /** The values of `columns`, then those of `compared`. */
  values(row: HistoryRows[Kind]): readonly unknown[]
}
