/** Deliveries, attempts and updates as rows of history. Source: docs/retention.md. @module */
import type { HistoryRow } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { attemptColumns, attemptRecord, attemptValues } from '../deliveries/attempt-row.js'
import { hexOf } from '../internal/hex.js'
import { bytes, integer, nullableInteger, pack, unpack } from '../internal/values.js'
import { packBody } from '../packed-body.js'
import { snapshotBytes } from '../snapshot-row.js'
import { fields, type KindRows, type RowsByKind } from './kind-rows.js'

const { text, whole, number, flag, optional } = fields

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const deliveries: KindRows<number> = {
  table: 'snapshots',
  key: 'id',
  async read(db, { from, to }, after, limit) {
    const rows = await db
      .selectFrom('snapshots as s')
      .leftJoin('payments as p', 'p.id', 's.payment_id')
      .select(['s.id', 's.payment_id', 's.created_at', 's.version', 's.integration', 's.undelivered', 's.body'])
      .select(['p.chain_id', 'p.tx_hash', 'p.integration as address'])
      .where('s.id', '>=', after === null ? from : after + 1)
      .where('s.id', '<', to)
      .orderBy('s.id')
      .limit(limit)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return null
    return {
      last: integer(last.id),
      rows: rows.map(({ chain_id, tx_hash, ...row }) => {
        // A row that is in no file must not be removed.
        if (chain_id === null || tx_hash === null)
          throw new RangeError(
            `Delivery ${row.id} has no payment ${row.payment_id}; nothing of its segment is removed.`,
          )
        const address = row.address === null ? null : hexOf(row.address)
        return {
          deliveryId: String(row.id),
          paymentId: String(row.payment_id),
          chainId: integer(chain_id),
          txHash: hexOf(tx_hash),
          integrationAddress: address,
          version: integer(row.version),
          createdAt: integer(row.created_at),
          // Null: nobody was notified.
          status: row.integration === null ? null : (row.undelivered ?? 'delivered'),
          body: utf8.decode(snapshotBytes(bytes(row.body), address, { ...row, chain_id, tx_hash })),
        }
      }),
    }
  },
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'payment_id', type: 'integer' },
    { name: 'created_at', type: 'integer' },
    { name: 'version', type: 'integer' },
    { name: 'integration', type: 'hex' },
    { name: 'undelivered', type: 'text' },
    { name: 'body', type: 'hex' },
  ],
  compared: [
    { name: 'chain_id', type: 'integer' },
    { name: 'tx_hash', type: 'hex' },
  ],
  owner: (name) => `exists (select 1 from ${name('payments')} p
    where p.id = v.payment_id and p.chain_id = v.chain_id and p.tx_hash = v.tx_hash)`,
  values(row) {
    const integrationAddress = optional(text, row, 'integrationAddress')
    const [version, status] = [whole(row, 'version'), optional(text, row, 'status')]
    const subject = { integrationAddress, chainId: whole(row, 'chainId'), txHash: text(row, 'txHash'), version }
    return [
      ...[whole(row, 'deliveryId'), whole(row, 'paymentId'), whole(row, 'createdAt'), version],
      status === null ? null : integrationAddress,
      status === 'delivered' ? null : status,
      `0x${Buffer.from(packBody(Buffer.from(text(row, 'body')), subject)).toString('hex')}`,
      ...[subject.chainId, subject.txHash],
    ]
  },
}

const attempts: KindRows<{ readonly id: number; readonly number: number }> = {
  table: 'attempts',
  key: 'delivery_id',
  async read(db, { from, to }, after, limit) {
    const { id, number: attempt } = after ?? { id: from, number: 0 }
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
    const last = rows.at(-1)
    if (last === undefined) return null
    return {
      last: { id: integer(last.delivery_id), number: integer(last.number) },
      rows: rows.map((row) => ({
        deliveryId: String(row.delivery_id),
        number: integer(row.number),
        ...attemptRecord(row),
      })),
    }
  },
  columns: attemptColumns,
  compared: [],
  owner: (name) => `exists (select 1 from ${name('snapshots')} s where s.id = v.delivery_id)`,
  values: (row) =>
    attemptValues(whole(row, 'deliveryId'), whole(row, 'number'), {
      startedAt: whole(row, 'startedAt'),
      latencyMs: number(row, 'latencyMs'),
      status: optional(whole, row, 'status'),
      reason: optional(text, row, 'reason'),
      excerpt: optional(text, row, 'excerpt'),
      replay: flag(row, 'replay'),
    }),
}

const updates: KindRows<number> = {
  table: 'updates',
  key: 'seq',
  async read(db, { from, to }, after, limit) {
    const rows = await db
      .selectFrom('updates')
      .select(['seq', 'id', 'payment_id', 'version', 'fingerprint', 'outcome', 'reason', 'body'])
      .where('seq', '>=', after === null ? from : after + 1)
      .where('seq', '<', to)
      .where('outcome', '<>', 'waiting')
      .orderBy('seq')
      .limit(limit)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return null
    return {
      last: integer(last.seq),
      rows: rows.map(
        (row): HistoryRow => ({
          seq: integer(row.seq),
          id: row.id,
          paymentId: row.payment_id === null ? null : String(row.payment_id),
          version: nullableInteger(row.version),
          fingerprint: hexOf(row.fingerprint),
          outcome: row.outcome,
          reason: unpack<string>(row.reason),
          update: unpack<object>(row.body),
        }),
      ),
    }
  },
  columns: [
    { name: 'seq', type: 'integer' },
    { name: 'id', type: 'text' },
    { name: 'payment_id', type: 'integer' },
    { name: 'version', type: 'integer' },
    { name: 'fingerprint', type: 'hex' },
    { name: 'outcome', type: 'text' },
    { name: 'reason', type: 'text' },
    { name: 'body', type: 'text' },
  ],
  compared: [],
  owner: (name) => `v.payment_id is null or exists (select 1 from ${name('payments')} p where p.id = v.payment_id)`,
  values: (row) => [
    ...[whole(row, 'seq'), text(row, 'id'), optional(whole, row, 'paymentId'), optional(whole, row, 'version')],
    ...[text(row, 'fingerprint'), text(row, 'outcome'), pack(optional(text, row, 'reason'))],
    row['update'] === null || typeof row['update'] !== 'object' ? null : pack(row['update']),
  ],
}

/** Each kind. */
export const rowsByKind = { deliveries, attempts, updates } as unknown as RowsByKind
