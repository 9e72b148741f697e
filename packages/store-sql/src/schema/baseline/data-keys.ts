/** Creates the table of data keys. @module */
import { createTable, type Migration } from '../migration.js'

/** One sealed key for each purpose. */
export const dataKeyTable: Migration = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('data_keys'),
      `purpose ${code} not null primary key, key_version ${integer} not null, sealed ${text} not null`,
    ),
  ]
}
