/** Migration 9: one-time codes, and the log of accounts. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 9.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration9(types: ColumnTypes, name: (table: string) => string): string[] {
  const { id, integer, code, text, tableOptions } = types
  const table = (tableName: string, columns: string) => `create table ${name(tableName)} (${columns})${tableOptions}`
  return [
    table(
      'email_codes',
      `email_key ${code} not null primary key, hash ${code} not null, expires_at ${integer} not null,
       tries_left ${integer} not null`,
    ),
    table(
      'account_events',
      `id ${id}, at ${integer} not null, action ${code} not null, email_key ${code}, account_id ${text},
       proof ${code}, by_integration ${code}, reason ${code}`,
    ),
    `create index account_events_email on ${name('account_events')} (email_key, id)`,
  ]
}
