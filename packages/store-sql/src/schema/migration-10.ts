/** Migration 10: the index over the names of claims goes, as no statement reads it: names are looked up among redemptions. @module */
import type { ColumnTypes } from './column-types.js'

/**
 * The statements of migration 10.
 * @param name - Quotes a table's name, with its schema where there is one.
 */
export function migration10(_types: ColumnTypes, name: (table: string) => string): string[] {
  return [`drop index ${name('verifications_claim')}`]
}
