/** Reads integrations and their endpoints for the console. Source: the port ConsoleReads. @module */
import type { ConsoleIntegration, ConsoleReads } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { attemptRecord } from '../deliveries/list.js'
import type { Connection, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, nullableInteger, unpack } from '../internal/values.js'

/** Newest deliveries of an endpoint whose attempts are read. */
const mostDeliveries = 50
const mostLatencies = 500
const mostRows = 1_000

type EndpointReads = Pick<ConsoleReads, 'lastFailure' | 'latencies' | 'integrations'>

/** The reads of a database. */
export function createEndpointReads({ read: db }: Engine): EndpointReads {
  return {
    async lastFailure(integrationAddress) {
      const row = await lastFailureQuery(db, integrationAddress).executeTakeFirst()
      return row === undefined ? null : { ...attemptRecord(row), deliveryId: String(row.delivery_id) }
    },
    async latencies(integrationAddress) {
      return (await latencyQuery(db, integrationAddress).execute()).map(({ latency_ms }) => latency_ms)
    },
    async integrations({ afterAddress = '', limit }) {
      return (await integrationQuery(db, afterAddress, checkInteger(limit, 'limit', 1, mostRows)).execute()).map(viewOf)
    },
  }
}

const newestDeliveries = (db: Connection, integrationAddress: string) =>
  db
    .selectFrom('deliveries')
    .select('id')
    .where('integration', '=', integrationAddress)
    .orderBy('id', 'desc')
    .limit(mostDeliveries)

/** The newest failed attempt of the newest deliveries. */
export function lastFailureQuery(db: Connection, integrationAddress: string) {
  return db
    .selectFrom(newestDeliveries(db, integrationAddress).as('d'))
    .innerJoin('attempts as a', 'a.delivery_id', 'd.id')
    .selectAll('a')
    .where('a.reason', 'is not', null)
    .orderBy('a.started_at', 'desc')
    .orderBy(sql`a.number`, 'desc')
    .limit(1)
}

/** Latencies of the attempts that were answered, or that waited until the time limit. Reasons are JSON strings. */
export function latencyQuery(db: Connection, integrationAddress: string) {
  return db
    .selectFrom(newestDeliveries(db, integrationAddress).as('d'))
    .innerJoin('attempts as a', 'a.delivery_id', 'd.id')
    .select('a.latency_ms')
    .where(({ eb, or }) => or([eb('a.status', 'is not', null), eb('a.reason', '=', '"timeout"')]))
    .limit(mostLatencies)
}

/** Integrations after an address. */
export function integrationQuery(db: Connection, afterAddress: string, limit: number) {
  return db
    .selectFrom('integrations as i')
    .leftJoin('endpoints as e', 'e.integration', 'i.address')
    .select(['i.address', 'i.name', 'i.notification_url', 'i.enabled', 'i.created_at'])
    .select(['i.prepared_signing_key_version', 'i.previous_signing_until'])
    .select(['e.failures', 'e.blocks', 'e.failing_since', 'e.blocked_until'])
    .where('i.address', '>', afterAddress)
    .orderBy('i.address')
    .limit(limit)
}

type Row = Awaited<ReturnType<ReturnType<typeof integrationQuery>['execute']>>[number]

function viewOf(row: Row): ConsoleIntegration {
  const failures = integer(row.failures ?? 0)
  return {
    address: row.address,
    name: unpack<string>(row.name),
    notificationUrl: row.notification_url,
    enabled: integer(row.enabled) === 1,
    createdAt: integer(row.created_at),
    signingSecretPrepared: row.prepared_signing_key_version !== null,
    previousSigningSecretUntil: nullableInteger(row.previous_signing_until),
    health:
      failures === 0
        ? null
        : {
            integrationAddress: row.address,
            failures,
            blocks: integer(row.blocks ?? 0),
            // The column has 0 for an unknown time.
            failingSince: integer(row.failing_since ?? 0) || null,
            blockedUntil: nullableInteger(row.blocked_until),
          },
  }
}
