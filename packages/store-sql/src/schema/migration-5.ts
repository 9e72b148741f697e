/** Migration 5: replays, when deliveries were made, how endpoints are doing, what receivers answered, and the audit log. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 5.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration5(types: ColumnTypes, name: (table: string) => string): string[] {
  const { integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  const column = (tableName: string, definition: string) => `alter table ${name(tableName)} add column ${definition}`
  return [
    column('deliveries', `created_at ${integer}`),
    column('deliveries', `replayed_at ${integer}`),
    column('deliveries', `schedule_from ${integer} not null default 0`),
    column('attempts', `excerpt ${text}`),
    column('attempts', `replay ${integer} not null default 0`),
    // Attempts are logged for rows that their own transaction holds, and that nothing ever deletes.
    ...(types.dropsForeignKeys ? [`alter table ${name('attempts')} drop constraint attempts_delivery_id_fkey`] : []),
    column('integrations', `endpoint_epoch ${integer} not null default 0`),
    table(
      'endpoints',
      `integration ${code} not null primary key, failures ${integer} not null, blocks ${integer} not null,
       failing_since ${integer} not null, blocked_until ${integer}`,
    ),
    table(
      'audit',
      `seq ${integer} not null primary key, at ${integer} not null, actor ${text} not null, action ${text} not null,
       subject ${text} not null, details ${text} not null, key_version ${integer} not null, hash ${text} not null`,
    ),
  ]
}
