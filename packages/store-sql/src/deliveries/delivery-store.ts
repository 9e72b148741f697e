/** Stores deliveries: their backlog, streams and replays. @module */
import type { DeliveryStore, ReplayRequest, ReplayResult, StreamQuery } from '@payment-integration/core/internal'
import type { IdSource } from '@payment-integration/core/ports'
import type { Connection, Engine, Lane, Parameter, SqlDialect } from '../engine.js'
import { findLowestReplayable } from '../history/segments.js'
import { compile, run, type StatementText } from '../internal/statements.js'
import { checkInteger, parseId, parseKey, toHex, toNullableNumber, toNumber } from '../internal/values.js'
import { type BodyKeyRow, toSnapshotBytes } from '../payments/snapshots.js'
import type { Integer } from '../schema/migration.js'
import { lastAddress, scanName, scanText } from './candidates.js'
import { createClaim } from './claim.js'
import { chooseIdColumn, createDeliveryLists, findMissing, selectFiltered, withIdRange } from './delivery-lists.js'
import { createEndpointReads } from './endpoint-rows.js'
import { createResetOverlongWaits, createSettle } from './settle.js'

// Deliveries of disabled integrations do not count, because they never become due.
async function readEarliest(read: Connection) {
  const [row] = (await read.executeQuery(earliestQuery(read.dialect))).rows
  return {
    open: toNullableNumber(row?.open_due ?? null),
    blocked: toNullableNumber(row?.blocked_due ?? null),
    claimable: toNullableNumber(row?.claimable ?? null),
    now: toNumber(row?.now ?? 0),
  }
}

/**
 * The first due times of open and of blocked endpoints, and the first time when a delivery can be claimed. Uses a skip
 * scan per lane, because a plain minimum would read the whole backlog.
 */
export function earliestQuery(dialect: SqlDialect) {
  const { name, nowText } = dialect
  const scanAll = (lane: Lane) => ({ lane, after: '', upTo: lastAddress })
  const lanes: readonly Lane[] = [0, 1, 2]
  const heads = (lane: Lane) => `select
      (select min(d.due_at) from ${name('outbox')} d
        where d.lane = ${lane} and d.integration = i.address) as due,
      ${lane === 2 ? 'null' : 'case when e.blocks > 0 then e.blocked_until end'} as blocked_until
    from ${scanName(lane)} w cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where i.address = w.integration and i.enabled = 1 and i.notification_url is not null`
  return compile<Record<'open_due' | 'blocked_due' | 'claimable', Integer | null> & { readonly now: Integer }>(
    dialect,
    (parameter) => `with recursive ${lanes.map((lane) => scanText(name('outbox'), scanAll(lane), parameter)).join(', ')}
    select min(case when blocked_until is null then due end) as open_due,
      min(case when blocked_until is not null then due end) as blocked_due,
      min(case when blocked_until > due then blocked_until else due end) as claimable,
      ${nowText(parameter)} as now
    from (${lanes.map((lane) => heads(lane)).join(' union all ')}) heads`,
  )
}

/** Makes deliveries due now, with a new schedule, except leased ones. */
export async function replayDeliveries(db: Connection, request: ReplayRequest): Promise<ReplayResult> {
  const limit = checkInteger(request.limit, 'limit', 1)
  // The history of a closed segment no longer changes.
  const lowest = await findLowestReplayable(db)
  const rows = await selectFiltered(db, await withIdRange(db, request))
    .where(chooseIdColumn(request), '>=', lowest)
    .select(['d.id', 'q.id as pending'])
    .orderBy(chooseIdColumn(request))
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => toNumber(id))
  const lastId = ids.at(-1)
  if (lastId === undefined) return { replayed: 0, inFlight: 0, lastId: null }
  // A delivery that is settled meanwhile is skipped: it may be delivered now.
  const pickIds = (pending: boolean) =>
    rows.filter((row) => (row.pending !== null) === pending).map(({ id }) => toNumber(id))
  const replayed = (await restart(db, pickIds(true))) + (await returnToOutbox(db, pickIds(false)))
  return { replayed, inFlight: ids.length - replayed, lastId: String(lastId) }
}

/** Restarts pending deliveries. A locked row is being claimed, settled or replayed, so it is skipped. */
async function restart(db: Connection, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0
  const { name, nowText, oneOf, skipLocked } = db.dialect
  const rows = await run<{ id: Integer }>(db, (parameter) => {
    const now = nowText(parameter)
    return `update ${name('outbox')} set lane = 2, due_at = ${now}, claim_token = null, replayed_at = ${now}, schedule_from = attempted
      where id in (
        select d.id from ${name('outbox')} d where ${oneOf('d.id', 'integer', ids, parameter)}
          and (d.claim_token is null or d.due_at <= ${now})${skipLocked('d')}
      ) returning id`
  })
  return rows.length
}

/** Returns finished deliveries to the outbox, except those that another replay returned meanwhile. */
async function returnToOutbox(db: Connection, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0
  const { name, nowText, oneOf } = db.dialect
  const rows = await run<{ id: Integer }>(db, (parameter) => {
    const now = nowText(parameter)
    return `insert into ${name('outbox')}
        (id, integration, lane, due_at, replayed_at, attempted, schedule_from)
      select d.id, d.integration, 2, ${now}, ${now}, 0, 0
      from ${name('snapshots')} d where ${oneOf('d.id', 'integer', ids, parameter)}
        and not exists (select 1 from ${name('outbox')} q where q.id = d.id)
      order by d.id on conflict (id) do nothing returning id`
  })
  const returned = rows.map(({ id }) => toNumber(id))
  if (returned.length === 0) return 0
  const isReturned = (parameter: Parameter) => oneOf('id', 'integer', returned, parameter)
  // Counted after the rows are locked: another replay may have added attempts and finished.
  const counted = `(select coalesce(max(a.number), 0) from ${name('attempts')} a where a.delivery_id = ${name('outbox')}.id)`
  const countText: StatementText = (parameter) =>
    `update ${name('outbox')} set attempted = ${counted}, schedule_from = ${counted} where ${isReturned(parameter)}`
  await run(db, countText)
  const reopenText: StatementText = (parameter) =>
    `update ${name('snapshots')} set undelivered = null where ${isReturned(parameter)} and undelivered is not null`
  await run(db, reopenText)
  return returned.length
}

/**
 * Builds `completeUpTo`. Ids up to the newest one are complete once all transactions have ended that were writing when
 * that id was read. Later writers get higher ids.
 */
function createCompleteUpTo(read: Connection): DeliveryStore['completeUpTo'] {
  let complete: number | null = null
  let waiting: { readonly upTo: number; readonly writers: ReadonlySet<string> } | null = null

  function observe(newest: number, writers: readonly string[]): void {
    if (waiting !== null && writers.some((writer) => waiting?.writers.has(writer))) return
    if (waiting !== null) complete = Math.max(complete ?? 0, waiting.upTo)
    waiting = writers.length === 0 ? null : { upTo: newest, writers: new Set(writers) }
    if (waiting === null) complete = Math.max(complete ?? 0, newest)
  }

  return async () => {
    const text = () => read.dialect.newestAndWriters('snapshots')
    const [row] = await run<{ newest: Integer; writers: string }>(read, text)
    if (row !== undefined) observe(toNumber(row.newest), JSON.parse(row.writers))
    return complete === null ? null : String(complete)
  }
}

export function streamQuery(dialect: SqlDialect, { integrationAddress, afterId, upToId, limit }: StreamQuery) {
  const { name, bytesText, indexRange } = dialect
  const value = parseKey(integrationAddress)
  const range = { value, from: parseId(afterId, 'afterId') + 1, upTo: parseId(upToId, 'upToId') }
  const maxRows = checkInteger(limit, 'limit', 1)
  return compile<BodyKeyRow & Record<'id' | 'created_at', Integer> & { readonly body: Uint8Array | string }>(
    dialect,
    (parameter) => `select d.id, d.version, d.created_at, p.chain_id, p.tx_hash, ${bytesText('d.body')} as body
      from (
        select id, payment_id, version, created_at, body from ${name('snapshots')}
        where integration is not null and ${indexRange('integration', 'id', range, parameter)}
        order by integration, id limit ${parameter(maxRows)}
      ) d
      join ${name('payments')} p on p.id = d.payment_id
      order by d.id`,
  )
}

export function createDeliveryStore(engine: Engine, ids: IdSource): DeliveryStore {
  const { read } = engine
  return {
    claim: createClaim(engine, ids),
    settle: createSettle(engine),
    resetOverlongWaits: createResetOverlongWaits(engine),
    async msUntilDue() {
      const { claimable, now } = await readEarliest(read)
      return claimable === null ? null : Math.max(0, claimable - now)
    },
    whenDue: (listener) => engine.whenDue(listener),
    async backlog({ atMost }) {
      const { rows } = await read.dialect.pending(checkInteger(atMost, 'atMost', 1)).execute(read)
      const { open, blocked, now } = await readEarliest(read)
      const getOverdueMs = (due: number | null) => (due === null || due > now ? null : now - due)
      const [oldestDueMs, oldestBlockedMs] = [getOverdueMs(open), getOverdueMs(blocked)]
      return { pending: toNumber(rows[0]?.pending ?? 0), oldestDueMs, oldestBlockedMs }
    },
    ...createDeliveryLists(read),
    findMissing: (query) => findMissing(read, query),
    oldestSnapshot: async () => (await engine.oldestSnapshot?.()) ?? null,
    completeUpTo: createCompleteUpTo(read),
    async stream(query) {
      const { rows } = await read.executeQuery(streamQuery(read.dialect, query))
      return rows.map((row) => ({
        deliveryId: String(toNumber(row.id)),
        chainId: toNumber(row.chain_id),
        txHash: toHex(row.tx_hash),
        version: toNumber(row.version),
        createdAt: toNumber(row.created_at),
        body: toSnapshotBytes(read.dialect.toBytes(row.body), query.integrationAddress, row),
      }))
    },
    ...createEndpointReads(read),
  }
}
