/** Migration 4: how high a chain was indexed before it went back. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 4.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration4({ integer }: ColumnTypes, name: (table: string) => string): string[] {
  return [`alter table ${name('checkpoints')} add column reached ${integer}`]
}
