/** Stores sessions of integrations, whose tokens arrive hashed. Source: docs/decisions/operators.md. @module */
import type {
  IntegrationSessionRecord,
  IntegrationSessionStore,
  IntegrationSessionTransaction,
} from '@payment-integration/core/internal'
import type { Selectable } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { prepare, type ValueOf } from '../internal/statements.js'
import { checkInteger, hexBytes, integer, keyBytes, toHex } from '../internal/values.js'
import type { IntegrationSessionRow } from '../schema/tables.js'
import { integrationColumns, toIntegrationRecord } from './integrations.js'

export function createIntegrationSessionStore(engine: Engine): IntegrationSessionStore {
  const find = prepare(engine, (value: ValueOf<{ hash: string }>) =>
    integrationSessionQuery(engine.read, value('hash')),
  )
  return {
    async find(hash) {
      const [row] = await find({ hash })
      if (row === undefined) return null
      const { session_api_hash: api_hash, session_created_at: created_at, integration, expires_at } = row
      const session = toSessionRecord({ hash: row.hash, integration, api_hash, created_at, expires_at })
      return { session, integration: toIntegrationRecord(row) }
    },
  }
}

export function bindIntegrationSessions(db: Connection): IntegrationSessionTransaction {
  return {
    async insert({ hash, integrationAddress, apiSecretHash, createdAt, expiresAt }) {
      const times = { created_at: createdAt, expires_at: expiresAt }
      const values = { hash, integration: hexBytes(integrationAddress), api_hash: apiSecretHash, ...times }
      await db.insertInto('integration_sessions').values(values).execute()
    },
    async delete(hash) {
      const row = await db.deleteFrom('integration_sessions').where('hash', '=', hash).returningAll().executeTakeFirst()
      return row === undefined ? null : toSessionRecord(row)
    },
    async deleteByIntegration(integrationAddress) {
      return (await deleteIntegrationSessionsQuery(db, integrationAddress).execute()).length
    },
    async keepNewest(integrationAddress, count) {
      const integration = keyBytes(integrationAddress)
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
  return db
    .selectFrom('integration_sessions as session')
    .innerJoin('integrations', 'integrations.address', 'session.integration')
    .select(integrationColumns)
    .select(['session.hash', 'session.integration', 'session.expires_at'])
    .select(['session.api_hash as session_api_hash', 'session.created_at as session_created_at'])
    .where('session.hash', '=', hash)
}

export function deleteIntegrationSessionsQuery(db: Connection, integrationAddress: string) {
  return db.deleteFrom('integration_sessions').where('integration', '=', keyBytes(integrationAddress)).returning('hash')
}

export function deleteExpiredIntegrationSessionsQuery(db: Connection, now: number) {
  return db.deleteFrom('integration_sessions').where('expires_at', '<=', now)
}

function toSessionRecord(row: Selectable<IntegrationSessionRow>): IntegrationSessionRecord {
  return {
    hash: row.hash,
    integrationAddress: toHex(row.integration),
    apiSecretHash: row.api_hash,
    createdAt: integer(row.created_at),
    expiresAt: integer(row.expires_at),
  }
}
