/** Integrations and their secrets, which arrive hashed or sealed. @module */
import type { IntegrationRecord, IntegrationStore } from '@payment-integration/core/ports'
import type { Selectable, Updateable } from 'kysely'
import type { Engine } from './engine.js'
import { integer, pack, unpack } from './internal/values.js'
import type { IntegrationRow } from './schema/tables.js'

/** Integrations by address. */
export function createIntegrationStore({ read, transaction }: Engine): IntegrationStore {
  return {
    async find(address) {
      const row = await read.selectFrom('integrations').selectAll().where('address', '=', address).executeTakeFirst()
      return row === undefined ? null : integrationRecord(row)
    },
    async list() {
      return (await read.selectFrom('integrations').selectAll().orderBy('address').execute()).map(integrationRecord)
    },
    async insert(record) {
      const { address, name, signingSecret, enabled, notificationUrl, apiSecret, previousApiSecret } = record
      const values = {
        ...changedColumns({ notificationUrl, apiSecret, previousApiSecret }),
        address,
        name: pack(name),
        enabled: enabled ? 1 : 0,
        signing_key_version: signingSecret.keyVersion,
        signing_sealed: signingSecret.sealed,
        created_at: record.createdAt,
      }
      return transaction(async (db) => {
        const inserted = await db
          .insertInto('integrations')
          .values(values)
          .onConflict((conflict) => conflict.column('address').doNothing())
          .returning('address')
          .executeTakeFirst()
        return inserted !== undefined
      })
    },
    async update(address, change, onlyIf) {
      const columns = changedColumns(change)
      // The address is no change: a statement with nothing else to set still tests the condition and answers the row.
      const values = Object.keys(columns).length === 0 ? { address } : columns
      return transaction(async (db) => {
        const row = await db
          .updateTable('integrations')
          .set(values)
          .where('address', '=', address)
          .$if(onlyIf !== undefined, (query) =>
            query.where('api_hash', 'is not distinct from', onlyIf?.apiSecretHash ?? null),
          )
          .returningAll()
          .executeTakeFirst()
        return row === undefined ? null : integrationRecord(row)
      })
    },
  }
}

type Change = Parameters<IntegrationStore['update']>[1]

/** The columns of the fields that are given; an absent or undefined field changes nothing. */
function changedColumns(change: Change): Updateable<IntegrationRow> {
  const { name, notificationUrl, enabled, apiSecret, previousApiSecret, signingSecret } = change
  return {
    ...(name === undefined ? {} : { name: pack(name) }),
    ...(notificationUrl === undefined ? {} : { notification_url: notificationUrl }),
    ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
    ...(apiSecret === undefined
      ? {}
      : { api_key_version: apiSecret?.keyVersion ?? null, api_hash: apiSecret?.hash ?? null }),
    ...(previousApiSecret === undefined
      ? {}
      : {
          previous_key_version: previousApiSecret?.keyVersion ?? null,
          previous_hash: previousApiSecret?.hash ?? null,
          previous_until: previousApiSecret?.until ?? null,
        }),
    ...(signingSecret === undefined
      ? {}
      : { signing_key_version: signingSecret.keyVersion, signing_sealed: signingSecret.sealed }),
  }
}

function integrationRecord(row: Selectable<IntegrationRow>): IntegrationRecord {
  const { api_key_version, api_hash, previous_key_version, previous_hash, previous_until } = row
  return {
    address: row.address,
    name: unpack<string>(row.name),
    notificationUrl: row.notification_url,
    enabled: integer(row.enabled) === 1,
    apiSecret:
      api_key_version === null || api_hash === null ? null : { keyVersion: integer(api_key_version), hash: api_hash },
    previousApiSecret:
      previous_key_version === null || previous_hash === null || previous_until === null
        ? null
        : { keyVersion: integer(previous_key_version), hash: previous_hash, until: integer(previous_until) },
    signingSecret: { keyVersion: integer(row.signing_key_version), sealed: row.signing_sealed },
    createdAt: integer(row.created_at),
  }
}
