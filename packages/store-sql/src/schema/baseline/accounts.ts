/** Creates the tables of merchant accounts and their addresses. @module */
import { createTable, type Statements } from '../migration.js'

/** Accounts by handle, and the addresses that each receives payments at. */
export const accountTables: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('accounts'),
      `handle ${code} not null primary key, address ${code} not null, config ${text} not null,
       created_at ${integer} not null`,
    ),
    createTable(
      types,
      name('account_addresses'),
      `address ${code} not null, handle ${code} not null references ${name('accounts')} (handle) on delete cascade,
       primary key (address, handle)`,
    ),
    `create index account_addresses_handle on ${name('account_addresses')} (handle)`,
  ]
}
