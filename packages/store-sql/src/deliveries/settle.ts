/** Settles attempts and their leases. See docs/decisions/retries.md. @module */
import type {
  DeliveryStore,
  EndpointJudge,
  SettledAttempt,
  SettledStatus,
  SettleResult,
} from '@payment-integration/core/internal'
import type { Connection, Engine, Parameter, SqlDialect } from '../engine.js'
import { listColumns, run, runBulk, runPrepared, type StatementText, sendPrepared } from '../internal/statements.js'
import { checkInteger, parseId, toHex, toNullableNumber, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import { attemptColumns, toAttemptValues } from './delivery-lists.js'
import { type EndpointReport, type HealthRow, healthColumns, judgeEndpoints, toStoredHealth } from './endpoint-rows.js'

/**
 * A condition: the payment of snapshot `s` has a newer delivery. Its `order by`, which `exists` would ignore, keeps a
 * plan made for empty tables on the index of versions; a scan by primary key would read every newer snapshot.
 */
export function isSuperseded({ name }: SqlDialect): string {
  return `(select n.id from ${name('snapshots')} n
      where n.payment_id = s.payment_id and n.version > s.version and n.id > s.id and n.integration is not null
      order by n.version limit 1) is not null`
}

/** The time of a transaction as text, the same in all its statements. */
export type Moment = ReturnType<SqlDialect['moment']>

export interface Lease {
  readonly leaseMs: number
  /** As stored, without an epoch. */
  readonly storedToken: string
  readonly now: Moment
}

/** Writes a lease: `due_at` moves to its end, so that a delivery whose lease ends unsettled is due again. */
export async function writeLeases(
  db: Connection,
  ids: readonly number[],
  { leaseMs, storedToken, now }: Lease,
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = db.dialect
  const text: StatementText = (parameter) => `update ${name('outbox')} set lane = case lane when 2 then 2 else 1 end,
    due_at = ${now(parameter)} + ${parameter(leaseMs)}, claim_token = ${parameter(storedToken)}
    where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, text)
}

/**
 * The token that a dispatcher gets. The epoch counts the resets of the endpoint's health, so that a response of the
 * former URL does not count for the new one.
 */
export function formatLeaseToken(storedToken: string, endpointEpoch: number): string {
  return `${storedToken}.${endpointEpoch}`
}

function parseLeaseToken(token: string): { readonly stored: string; readonly endpointEpoch: number } | null {
  const dot = token.lastIndexOf('.')
  if (dot < 0) return null
  return { stored: token.slice(0, dot), endpointEpoch: Number(token.slice(dot + 1)) }
}

async function removeFromOutbox(db: Connection, ids: readonly number[]) {
  if (ids.length === 0) return
  const { name, oneOf } = db.dialect
  const text = (parameter: Parameter) => `delete from ${name('outbox')} where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, text)
}

/** Removes deliveries from the outbox and stores why they were not delivered. */
export async function removeUndelivered(
  db: Connection,
  reason: 'exhausted' | 'superseded',
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const { name, oneOf } = db.dialect
  const text = (parameter: Parameter) => `update ${name('snapshots')} set undelivered = ${parameter(reason)}
    where ${oneOf('id', 'integer', ids, parameter)}`
  await sendPrepared(db, text)
  await removeFromOutbox(db, ids)
}

/** Rows per transaction: on SQLite all other transactions wait until it ends. */
const rowsAtOnce = 10_000

/** Builds `resetOverlongWaits`, which examines the whole outbox. A locked row is left for the next call. */
export function createResetOverlongWaits({ transaction, dialect }: Engine): DeliveryStore['resetOverlongWaits'] {
  const { name, nowText, skipLocked } = dialect
  return async ({ leaseMs, retryMs, blockMs }) => {
    for (const ms of [leaseMs, ...retryMs, blockMs]) checkInteger(ms, 'ms')
    const longestRetry = `case d.attempted - d.schedule_from
      ${retryMs.map((ms, index) => `when ${index + 1} then ${ms}`).join(' ')} else ${Math.max(leaseMs, ...retryMs)} end`
    const longestWait = `case when d.claim_token is null and d.lane = 1 then ${longestRetry} else ${leaseMs} end`

    /** Resets overlong waits among the next deliveries after an id; `last` is null if there are none. */
    const resetBatch = (after: number) =>
      transaction(async (db) => {
        const lastText: StatementText = (parameter) => `select max(p.id) as last from (
          select q.id from ${name('outbox')} q where q.id > ${parameter(after)} order by q.id limit ${rowsAtOnce}) p`
        const [part] = await run<{ last: Integer | null }>(db, lastText)
        const last = toNullableNumber(part?.last ?? null)
        if (last === null) return { last, resetCount: 0 }
        const reset = await run<unknown>(db, (parameter) => {
          const now = nowText(parameter)
          return `update ${name('outbox')} set due_at = ${now} where id in (
              select d.id from ${name('outbox')} d where d.id > ${parameter(after)} and d.id <= ${parameter(last)}
                and d.due_at > ${now} + ${longestWait}${skipLocked('d')}) returning id`
        })
        return { last, resetCount: reset.length }
      })

    const endpoints = await transaction((db) =>
      run<unknown>(db, (parameter) => {
        const now = nowText(parameter)
        return `update ${name('endpoints')} set blocked_until = ${now} where integration in (
            select e.integration from ${name('endpoints')} e where e.blocked_until > ${now} + ${blockMs}${skipLocked('e')}
          ) returning integration`
      }),
    )
    let total = endpoints.length
    for (let after: number | null = 0; after !== null; ) {
      const { last, resetCount } = await resetBatch(after)
      total += resetCount
      after = last
    }
    return total
  }
}

/** Builds `settle`: logs attempts, settles their deliveries, then updates their endpoints' health. */
export function createSettle({ transaction }: Engine): DeliveryStore['settle'] {
  return async (settled, judge) => {
    if (settled.length === 0) return { statuses: [], transitions: [] }
    const attempts = settled.map((settledAttempt) => {
      const { verdict, claim } = settledAttempt
      if (verdict.kind === 'retry') checkInteger(verdict.inMs, 'inMs')
      const id = parseId(claim.deliveryId, 'deliveryId')
      return { ...settledAttempt, id, token: parseLeaseToken(claim.leaseToken) }
    })
    return transaction((db) => settle(db, attempts, judge), { searches: true })
  }
}

interface SettlingAttempt extends SettledAttempt {
  readonly id: number
  readonly token: ReturnType<typeof parseLeaseToken>
}

interface LeasedRow extends HealthRow {
  id: Integer
  claim_token: string
  attempted: Integer
  schedule_from: Integer
  /** To be read with `toHex`. */
  integration: Uint8Array | string
  superseded: Integer
  now: Integer
}

export const retryColumns = listColumns({
  due_at: 'integer',
  attempted: 'integer',
  schedule_from: 'integer',
  id: 'integer',
})

export const retryText = ({ name }: SqlDialect) =>
  `update ${name('outbox')} as d set due_at = v.due_at, attempted = v.attempted, schedule_from = v.schedule_from,
     claim_token = null, lane = 1
   from v where d.id = v.id`

async function settle(
  db: Connection,
  attempts: readonly SettlingAttempt[],
  judge: EndpointJudge,
): Promise<SettleResult> {
  const ids = attempts.map(({ id }) => id)
  // Only a retry can be superseded.
  const hasRetry = attempts.some(({ verdict }) => verdict.kind === 'retry')
  const rows = await runPrepared<LeasedRow>(db, lockLeasedText(db.dialect, ids, hasRetry))
  const leased = new Map(rows.map((row) => [toNumber(row.id), row]))
  const skipped = attempts.filter(({ id }) => !leased.has(id))
  const locked = await findLockedElsewhere(db, skipped)
  const { statuses, finishedIds, retryRows, attemptRows, reports, now } = collect(attempts, leased, locked)
  await removeFromOutbox(db, finishedIds.delivered)
  for (const reason of ['exhausted', 'superseded'] as const) await removeUndelivered(db, reason, finishedIds[reason])
  // Planned for these rows: a generic plan, made for an empty outbox, might scan it.
  await runBulk(db, retryColumns, retryRows, () => retryText(db.dialect), false)
  await db.dialect.insertAll(db, { table: 'attempts', columns: attemptColumns, rows: attemptRows, isPipelined: true })
  return { statuses, transitions: await judgeEndpoints(db, reports, { judge, now }) }
}

/** Decides the outcome of each attempt, and collects the rows to write and the reports by integration. */
function collect(
  attempts: readonly SettlingAttempt[],
  leased: Map<number, LeasedRow>,
  locked: ReadonlySet<SettlingAttempt>,
) {
  const statuses: SettleResult['statuses'][number][] = []
  const finishedIds: Record<Exclude<SettledStatus, 'pending'>, number[]> = {
    delivered: [],
    exhausted: [],
    superseded: [],
  }
  const retryRows: unknown[][] = []
  const attemptRows: unknown[][] = []
  const reports = new Map<string, EndpointReport & { results: EndpointReport['results'][number][] }>()
  let now = 0
  for (const settling of attempts) {
    const { id, token, rejected = null, attempt, claim, verdict, countsForHealth = true } = settling
    const row = leased.get(id)
    if (row === undefined || token === null || row.claim_token !== token.stored) {
      statuses.push(locked.has(settling) ? 'locked' : null)
      continue
    }
    leased.delete(id) // A lease settles once.
    now = toNumber(row.now)
    const retryStatus = toNumber(row.superseded) === 1 ? 'superseded' : 'pending'
    const status = verdict.kind === 'retry' ? retryStatus : verdict.kind
    statuses.push(status)
    const records = rejected === null ? [attempt] : [rejected, attempt]
    const attempted = toNumber(row.attempted)
    if (status !== 'pending') finishedIds[status].push(id)
    else if (verdict.kind === 'retry') {
      // A rejected attempt and its repetition are one step of the schedule.
      const scheduleFrom = toNumber(row.schedule_from) + records.length - 1
      retryRows.push([now + verdict.inMs, attempted + records.length, scheduleFrom, id])
    }
    attemptRows.push(...records.map((each, index) => toAttemptValues(id, attempted + 1 + index, each)))
    if (!countsForHealth) continue
    const integrationAddress = toHex(row.integration)
    const report = reports.get(integrationAddress) ?? { integrationAddress, health: toStoredHealth(row), results: [] }
    reports.set(integrationAddress, report)
    const delivered = verdict.kind === 'delivered'
    report.results.push({ delivered, probe: claim.probe, epoch: token.endpointEpoch })
  }
  return { statuses, finishedIds, retryRows, attemptRows, reports: [...reports.values()], now }
}

/** Finds the skipped attempts whose delivery still has its lease: another transaction must have locked its row. */
async function findLockedElsewhere(
  db: Connection,
  skipped: readonly SettlingAttempt[],
): Promise<ReadonlySet<SettlingAttempt>> {
  const { name, oneOf } = db.dialect
  if (skipped.length === 0) return new Set()
  const ids = skipped.map(({ id }) => id)
  const text: StatementText = (parameter) => `select d.id, d.claim_token from ${name('outbox')} d
    where ${oneOf('d.id', 'integer', ids, parameter)} and d.claim_token is not null`
  const rows = await run<{ id: Integer; claim_token: string }>(db, text)
  const tokens = new Map(rows.map((row) => [toNumber(row.id), row.claim_token]))
  return new Set(skipped.filter(({ id, token }) => token !== null && tokens.get(id) === token.stored))
}

/** Skips rows that others locked: waiting would delay the whole group. Without `checksVersions`, `superseded` is 0. */
export function lockLeasedText(dialect: SqlDialect, ids: readonly number[], checksVersions = true): StatementText {
  const { name, nowText, oneOf, skipLocked } = dialect
  const [superseded, snapshot, ofDelivery] = checksVersions
    ? [`case when ${isSuperseded(dialect)} then 1 else 0 end`, `cross join ${name('snapshots')} s`, 'and s.id = d.id']
    : ['0', '', '']
  return (parameter) => `select d.id, d.claim_token, d.attempted, d.schedule_from, d.integration, ${healthColumns},
      ${nowText(parameter)} as now, ${superseded} as superseded
    from ${name('outbox')} d ${snapshot} cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where ${oneOf('d.id', 'integer', ids, parameter)} and d.claim_token is not null
      and i.address = d.integration ${ofDelivery}
    order by d.id${skipLocked('d')}`
}
