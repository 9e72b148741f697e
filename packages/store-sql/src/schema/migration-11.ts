/**
 * Migration 11: the end of a lease in a column that no index has, so that a claim writes to no index. On PostgreSQL the pages of deliveries keep room for
 * a claimed copy of each row.
 * @module
 */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 11.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration11(types: ColumnTypes, name: (table: string) => string): string[] {
  const deliveries = name('deliveries')
  return [
    // What was claimed before has the end of its lease as `due_at`, and comes back by that.
    `alter table ${deliveries} add column leased_until ${types.integer}`,
    ...(types.copiesRows ? [`alter table ${deliveries} set (fillfactor = 50)`] : []),
  ]
}
