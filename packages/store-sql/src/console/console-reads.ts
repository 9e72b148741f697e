/** The reads for the console, and its indexes. Source: the port ConsoleReads. @module */
import type { ConsoleIntegration, ConsoleReads } from '@payment-integration/core/internal'
import { toAttemptRecord } from '../deliveries/delivery-lists.js'
import type { Connection, Engine } from '../engine.js'
import { toAuditRecord } from '../history/audit.js'
import { checkInteger, parseKey, toHex, toNullableNumber, toNumber, unpack, whileBusy } from '../internal/values.js'
import type { ColumnTypes, IndexDefinition } from '../schema/migration.js'
import { createDeliveryReads, keyQuery } from './delivery-reads.js'
import { createConsolePaymentReads, maxRows } from './payment-reads.js'

// The indexes that only the console needs are made when it first starts: without a console, writes are cheaper.

/** Makes missing indexes; waits for a running migration only if one is missing. */
async function createConsoleIndexes(engine: Engine): Promise<void> {
  const indexes = listIndexes(engine.dialect.types)
  const present = await Promise.all(indexes.map(({ name }) => engine.hasIndex(name)))
  if (!present.includes(false)) return
  await engine.runExclusively(async () => {
    for (const index of indexes) await whileBusy(() => engine.createIndex(index))
  })
}

/** The order of receipt, in a database that stores updates in no order. The removal of old updates needs it too. */
export const updatesNewest: IndexDefinition = { name: 'updates_newest', table: 'updates', columns: '(seq)' }

const listIndexes = ({ isStoredInSequence }: ColumnTypes): readonly IndexDefinition[] => [
  // Newest first across integrations; few payments are in a state other than `success`.
  { name: 'payments_time', table: 'payments', columns: '(block_timestamp, id) where is_primary = 1' },
  {
    name: 'statuses_state',
    table: 'statuses',
    columns: "(state, block_timestamp, payment_id) where state <> 'success'",
  },
  { name: 'payments_memo', table: 'payments', columns: '(memo) where is_primary = 1' },
  {
    name: 'payments_source',
    table: 'payments',
    columns: '(source_tx_hash) where is_primary = 1 and source_tx_hash is not null',
  },
  { name: 'attempts_started', table: 'attempts', columns: '(started_at)' },
  { name: 'updates_payment', table: 'updates', columns: '(payment_id, seq)' },
  ...(isStoredInSequence ? [] : [updatesNewest]),
]

/** The most deliveries per query whose attempts are read. */
const maxDeliveries = 50
const maxAttempts = 500

function createEndpointStatistics(db: Connection): Pick<ConsoleReads, 'lastFailure' | 'latencies' | 'integrations'> {
  return {
    async lastFailure(integrationAddress) {
      const [sent, retried] = await Promise.all([
        readSentIds(db, integrationAddress),
        retriedIdsQuery(db, integrationAddress).execute(),
      ])
      const ids = [...new Set([...sent, ...retried.map(({ id }) => toNumber(id))])]
      const failures = ids.length === 0 ? [] : await failureQuery(db, ids).execute()
      const [last] = failures.sort(
        (x, y) => toNumber(y.started_at) - toNumber(x.started_at) || toNumber(y.number) - toNumber(x.number),
      )
      return last === undefined ? null : { ...toAttemptRecord(last), deliveryId: String(last.delivery_id) }
    },
    async latencies(integrationAddress) {
      const ids = await readSentIds(db, integrationAddress)
      return ids.length === 0 ? [] : (await latencyQuery(db, ids).execute()).map(({ latency_ms }) => latency_ms)
    },
    async integrations({ afterAddress = '', isFailing = false, limit }) {
      const query = integrationQuery(db, afterAddress, checkInteger(limit, 'limit', 1, maxRows))
      return (await (isFailing ? query.where('e.failures', '>', 0) : query).execute()).map(toView)
    },
  }
}

/** A separate statement: in a join with the attempts, PostgreSQL may read all attempts. */
async function readSentIds(db: Connection, integrationAddress: string): Promise<number[]> {
  const unsent = await unsentQuery(db, integrationAddress).executeTakeFirst()
  const end = unsent === undefined ? Number.MAX_SAFE_INTEGER : toNumber(unsent.id)
  return (await sentIdsQuery(db, integrationAddress, end).execute()).map(({ id }) => toNumber(id))
}

/** The first delivery that was never claimed; all older ones were. A blocked endpoint has many newer unclaimed ones. */
export const unsentQuery = (db: Connection, integrationAddress: string) =>
  selectPending(db, integrationAddress, 0).orderBy('due_at').orderBy('id').limit(1)

export const sentIdsQuery = (db: Connection, integrationAddress: string, end: number) =>
  keyQuery(db, { integrationAddress }, { from: 1, to: end }, maxDeliveries)

/** Deliveries that wait for a retry; those of a blocked endpoint may be older than the newest sent ones. */
export const retriedIdsQuery = (db: Connection, integrationAddress: string) =>
  selectPending(db, integrationAddress, 1).orderBy('due_at', 'desc').orderBy('id', 'desc').limit(maxDeliveries)

const selectPending = (db: Connection, integrationAddress: string, lane: number) =>
  db.selectFrom('outbox').select('id').where('lane', '=', lane).where('integration', '=', parseKey(integrationAddress))

const selectAttempts = (db: Connection, ids: readonly number[]) =>
  db
    .selectFrom('attempts')
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id', 'desc')
    .orderBy('number', 'desc')
    .limit(maxAttempts)

export const failureQuery = (db: Connection, ids: readonly number[]) =>
  selectAttempts(db, ids).selectAll().where('reason', 'is not', null)

/** Latencies of attempts with an answer or a time-out. Reasons are JSON strings. */
export const latencyQuery = (db: Connection, ids: readonly number[]) =>
  selectAttempts(db, ids)
    .select('latency_ms')
    .where(({ eb, or }) => or([eb('status', 'is not', null), eb('reason', '=', '"timeout"')]))

export function integrationQuery(db: Connection, afterAddress: string, limit: number) {
  return db
    .selectFrom('integrations as i')
    .leftJoin('endpoints as e', 'e.integration', 'i.address')
    .select(['i.address', 'i.name', 'i.notification_url', 'i.enabled', 'i.created_at'])
    .select(['i.prepared_signing_key_version', 'i.previous_signing_until'])
    .select(['e.failures', 'e.blocks', 'e.failing_since', 'e.blocked_until'])
    .where('i.address', '>', parseKey(afterAddress))
    .orderBy('i.address')
    .limit(limit)
}

type Row = Awaited<ReturnType<ReturnType<typeof integrationQuery>['execute']>>[number]

function toView(row: Row): ConsoleIntegration {
  const failures = toNumber(row.failures ?? 0)
  const address = toHex(row.address)
  return {
    address,
    name: unpack<string>(row.name),
    notificationUrl: row.notification_url,
    enabled: toNumber(row.enabled) === 1,
    createdAt: toNumber(row.created_at),
    signingSecretPrepared: row.prepared_signing_key_version !== null,
    previousSigningSecretUntil: toNullableNumber(row.previous_signing_until),
    health:
      failures === 0
        ? null
        : {
            integrationAddress: address,
            failures,
            blocks: toNumber(row.blocks ?? 0),
            failingSince: toNumber(row.failing_since ?? 0),
            blockedUntil: toNullableNumber(row.blocked_until),
          },
  }
}

export function createConsoleReads(engine: Engine): ConsoleReads {
  const { read: db } = engine
  return {
    prepare: () => createConsoleIndexes(engine),
    ...createConsolePaymentReads(engine),
    ...createDeliveryReads(db),
    ...createEndpointStatistics(db),
    audit: async (query) => (await auditQuery(db, query).execute()).map(toAuditRecord),
  }
}

export function auditQuery(db: Connection, { beforeSeq, limit }: Parameters<ConsoleReads['audit']>[0]) {
  return db
    .selectFrom('audit')
    .selectAll()
    .where('seq', '<', checkInteger(beforeSeq ?? Number.MAX_SAFE_INTEGER, 'beforeSeq'))
    .orderBy('seq', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
}
