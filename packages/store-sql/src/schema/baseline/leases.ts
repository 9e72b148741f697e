/** Creates the table of leases. @module */
import { createTable, type Statements } from '../migration.js'

/** Leases with their holders and their ends. */
export const leaseTable: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('leases'),
      `name ${code} not null primary key, holder ${text} not null, expires_at ${integer} not null`,
    ),
  ]
}
