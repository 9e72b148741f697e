/** Creates the table of integrations' sessions at the portal. @module */
import { createTable, type Statements } from '../migration.js'

/** Open sessions by the hash of the token, each with the hash of the API secret that opened it. */
export const integrationSessionTable: Statements = (types, name) => {
  const { integer, code, text, bytes } = types
  return [
    createTable(
      types,
      name('integration_sessions'),
      `hash ${code} not null primary key,
       integration ${bytes} not null references ${name('integrations')} (address), api_hash ${text} not null,
       created_at ${integer} not null, expires_at ${integer} not null`,
    ),
    `create index integration_sessions_integration on ${name('integration_sessions')} (integration)`,
    `create index integration_sessions_expiry on ${name('integration_sessions')} (expires_at)`,
  ]
}
