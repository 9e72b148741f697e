/** Creates the table of data keys. @module */
import { createTable, type Statements } from '../migration.js'

/** One sealed key for each purpose. */
export const dataKeyTable: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('data_keys'),
      `purpose ${code} not null primary key, key_version ${integer} not null, sealed ${text} not null`,
    ),
  ]
}
