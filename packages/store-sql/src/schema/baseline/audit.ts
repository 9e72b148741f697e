/** Creates the table of the audit log. @module */
import { createTable, type Statements } from '../migration.js'

/** The audit log: records in sequence, each with a keyed hash. */
export const auditTable: Statements = (types, name) => {
  const { integer, text } = types
  return [
    createTable(
      types,
      name('audit'),
      `seq ${integer} not null primary key, at ${integer} not null, actor ${text} not null, action ${text} not null,
       subject ${text} not null, details ${text} not null, key_version ${integer} not null, hash ${text} not null`,
    ),
  ]
}
