/** Creates the tables of operators and their sessions. @module */
import { createTable, type Statements } from '../migration.js'

/** Operators by name, and their open sessions by the hash of the token. */
export const operatorTables: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('operators'),
      `name ${code} not null primary key, role ${code} not null, enabled ${integer} not null, passphrase ${text},
       link_hash ${code} unique, link_expires_at ${integer}, created_at ${integer} not null`,
    ),
    createTable(
      types,
      name('operator_sessions'),
      `hash ${code} not null primary key, operator ${code} not null references ${name('operators')} (name),
       created_at ${integer} not null, expires_at ${integer} not null`,
    ),
    `create index operator_sessions_operator on ${name('operator_sessions')} (operator)`,
    `create index operator_sessions_expiry on ${name('operator_sessions')} (expires_at)`,
  ]
}
