/** Stores sessions of integrations, whose tokens arrive hashed. Source: docs/decisions/operators.md. @module */
import type { IntegrationSessionRecord, SessionTransaction } from '@payment-integration/core/internal'
import type { Connection } from '../engine.js'
import { checkInteger, parseHex, parseKey, toHex, toNumber } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'

export function bindIntegrationSessions(db: Connection): SessionTransaction<IntegrationSessionRecord> {
  return {
    async insert({ hash, integrationAddress, apiSecretHash, createdAt, expiresAt }) {
      const times = { created_at: createdAt, expires_at: expiresAt }
      const values = { hash, integration: parseHex(integrationAddress), api_hash: apiSecretHash, ...times }
      await db.insertInto('integration_sessions').values(values).execute()
    },
    async delete(hash) {
      const row = await db.deleteFrom('integration_sessions').where('hash', '=', hash).returningAll().executeTakeFirst()
      return row === undefined ? null : toSessionRecord(row)
    },
    async deleteByOwner(integrationAddress) {
      return (await deleteIntegrationSessionsQuery(db, integrationAddress).execute()).length
    },
    async keepNewest(integrationAddress, count) {
      const integration = parseKey(integrationAddress)
      const newest = db.selectFrom('integration_sessions').select('hash').where('integration', '=', integration)
      await db
        .deleteFrom('integration_sessions')
        .where('integration', '=', integration)
        .where('hash', 'not in', newest.orderBy('created_at', 'desc').limit(count))
        .execute()
    },
    async deleteExpired(now) {
      await deleteExpiredIntegrationSessionsQuery(db, checkInteger(now, 'now')).execute()
    },
  }
}

export function integrationSessionQuery(db: Connection, hash: string) {
  // By name, because a prepared statement with `*` fails after a new column.
  const columns = ['hash', 'integration', 'api_hash', 'created_at', 'expires_at'] as const
  return db.selectFrom('integration_sessions').select(columns).where('hash', '=', hash)
}

export function deleteIntegrationSessionsQuery(db: Connection, integrationAddress: string) {
  return db.deleteFrom('integration_sessions').where('integration', '=', parseKey(integrationAddress)).returning('hash')
}

export function deleteExpiredIntegrationSessionsQuery(db: Connection, now: number) {
  return db.deleteFrom('integration_sessions').where('expires_at', '<=', now)
}

export function toSessionRecord(row: Tables['integration_sessions']): IntegrationSessionRecord {
  return {
    hash: row.hash,
    integrationAddress: toHex(row.integration),
    apiSecretHash: row.api_hash,
    createdAt: toNumber(row.created_at),
    expiresAt: toNumber(row.expires_at),
  }
}
