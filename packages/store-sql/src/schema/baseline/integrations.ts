/** Creates the table of integrations. @module */
import { createTable, type Statements } from '../migration.js'

/** Integrations with their API and signing secrets: current, prepared and previous. */
export const integrationTable: Statements = (types, name) => {
  const { integer, text, bytes } = types
  return [
    createTable(
      types,
      name('integrations'),
      `address ${bytes} not null primary key, name ${text} not null, notification_url ${text},
       enabled ${integer} not null, api_key_version ${integer}, api_hash ${text},
       previous_key_version ${integer}, previous_hash ${text}, previous_until ${integer},
       signing_key_version ${integer} not null, signing_sealed ${text} not null,
       prepared_signing_key_version ${integer}, prepared_signing_sealed ${text},
       previous_signing_key_version ${integer}, previous_signing_sealed ${text}, previous_signing_until ${integer},
       created_at ${integer} not null, endpoint_epoch ${integer} not null`,
    ),
  ]
}
