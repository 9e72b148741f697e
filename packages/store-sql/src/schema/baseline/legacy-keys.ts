/** Creates the table of legacy API keys. @module */
import { createTable, type Statements } from '../migration.js'

/** Every legacy API key ever issued, by its hash. */
export const legacyKeyTable: Statements = (types, name) => {
  const { integer, code, text } = types
  return [
    createTable(
      types,
      name('legacy_keys'),
      `id ${code} not null primary key, name ${text} not null, hash ${code} not null, key_version ${integer} not null,
       created_at ${integer} not null, revoked_at ${integer}, unique (hash, key_version)`,
    ),
  ]
}
