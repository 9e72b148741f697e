/**
 * Migration 12: what is pending has a table of its own, the outbox, whose rows go once they are settled. The row of a delivery
 * itself is written again only when it is given up, or replayed after that.
 * @module
 */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 12.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration12(
  { integer, code, text, tableOptions }: ColumnTypes,
  name: (table: string) => string,
): string[] {
  const [deliveries, outbox] = [name('deliveries'), name('outbox')]
  const columns =
    'id, payment_id, version, integration, lane, due_at, claim_token, attempted, schedule_from, replayed_at, created_at'
  return [
    // First: it locks out a process of the release before, whose rows would else come after the copy.
    `alter table ${deliveries} add column undelivered ${code}`,
    `create table ${outbox} (id ${integer} not null primary key, payment_id ${integer} not null, version ${integer} not null,
       integration ${code} not null, lane ${integer} not null, due_at ${integer} not null, claim_token ${text},
       attempted ${integer} not null, schedule_from ${integer} not null, replayed_at ${integer}, created_at ${integer})${tableOptions}`,
    `insert into ${outbox} (${columns}) select ${columns} from ${deliveries} where status = 'pending'`,
    `create index outbox_due on ${outbox} (lane, integration, due_at, id)`,
    `update ${deliveries} set undelivered = status where status in ('exhausted', 'superseded')`,
    `drop index ${name('deliveries_due')}`,
    `drop index ${name('deliveries_unsent')}`,
    ...['status', 'attempted', 'lane', 'due_at', 'claim_token', 'replayed_at', 'schedule_from'].map(
      (column) => `alter table ${deliveries} drop column ${column}`,
    ),
    // Most deliveries are delivered; a list of those walks the key, a list of those given up walks this.
    `create index deliveries_undelivered on ${deliveries} (undelivered, id) where undelivered is not null`,
  ]
}
