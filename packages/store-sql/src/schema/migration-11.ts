/** Migration 11: which applicant an attempt was claimed to replace. Of those of before it was not kept. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 11.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration11({ text }: ColumnTypes, name: (table: string) => string): string[] {
  return [`alter table ${name('redemptions')} add column replaces ${text}`]
}
