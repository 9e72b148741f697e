/** What attempts came to. Source: docs/decisions/retries.md. @module */
import type {
  AttemptRecord,
  AttemptVerdict,
  DeliveryStatus,
  DeliveryStore,
  EndpointJudge,
  Settled,
  SettledAttempt,
} from '@payment-integration/core/ports'
import type { BulkInsert, BulkUpdate, Connection, Engine, SqlDialect } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { run, runPrepared, type StatementText } from '../internal/statement.js'
import { integer, pack } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { readToken } from './claim-token.js'
import { giveUp, takeOut } from './end.js'
import { type EndpointReport, type HealthRow, healthColumns, judgeEndpoints, storedHealth } from './endpoint-rows.js'

/** Logs attempts and settles, reschedules or exhausts their deliveries; then judges the endpoints. */
export function createSettle({ transaction, dialect }: Engine): DeliveryStore['settle'] {
  return async (settled, judge) => {
    if (settled.length === 0) return { statuses: [], turned: [] }
    const given = settled.map((one) => {
      if (one.verdict.kind === 'retry') checkInteger(one.verdict.inMs, 'inMs')
      return { ...one, id: parseId(one.claim.deliveryId, 'deliveryId'), token: readToken(one.claim.claimToken) }
    })
    return transaction((db) => settle(db, dialect, given, judge), { searches: true })
  }
}

interface Given extends SettledAttempt {
  readonly id: number
  readonly token: ReturnType<typeof readToken>
}

interface ClaimedRow extends HealthRow {
  id: Integer
  claim_token: string
  attempted: Integer
  schedule_from: Integer
  integration: string
  overtaken: Integer
  now: Integer
}

/** What a delivery with a retry gets. */
const retryColumns: BulkUpdate['columns'] = [
  { name: 'due_at', type: 'integer' },
  { name: 'attempted', type: 'integer' },
  { name: 'schedule_from', type: 'integer' },
]

const attemptColumns: BulkInsert['columns'] = [
  { name: 'delivery_id', type: 'integer' },
  { name: 'number', type: 'integer' },
  { name: 'started_at', type: 'integer' },
  { name: 'latency_ms', type: 'real' },
  { name: 'status', type: 'integer' },
  { name: 'reason', type: 'text' },
  { name: 'excerpt', type: 'text' },
  { name: 'replay', type: 'integer' },
]

async function settle(
  db: Connection,
  dialect: SqlDialect,
  given: readonly Given[],
  judge: EndpointJudge,
): Promise<Settled> {
  const claimed = await claimedRows(db, dialect, given)
  const held = await heldElsewhere(
    db,
    dialect,
    given.filter(({ id }) => !claimed.has(id)),
  )
  const { statuses, ends, retries, attempts, reports, now } = collect(given, claimed, held)
  await takeOut(db, dialect, ends.delivered)
  for (const reason of ['exhausted', 'superseded'] as const) await giveUp(db, dialect, reason, ends[reason])
  const fixed = ['claim_token = null', 'lane = 1']
  await dialect.updateAll(db, { table: 'outbox', columns: retryColumns, fixed, rows: retries })
  await dialect.insertAll(db, { table: 'attempts', columns: attemptColumns, rows: attempts, sends: true })
  return { statuses, turned: await judgeEndpoints(db, dialect, reports, { judge, now }) }
}

/** What is to be written for those whose claim was not lost. */
function collect(given: readonly Given[], claimed: Map<number, ClaimedRow>, held: ReadonlySet<Given>) {
  const statuses: (DeliveryStatus | 'held' | null)[] = []
  const ends: Record<Exclude<DeliveryStatus, 'pending'>, number[]> = { delivered: [], exhausted: [], superseded: [] }
  const retries: unknown[][] = []
  const attempts: unknown[][] = []
  const reports = new Map<string, EndpointReport & { results: EndpointReport['results'][number][] }>()
  let now = 0
  for (const one of given) {
    const { id, token, rejected = null, attempt, claim, verdict, judged = true } = one
    const row = claimed.get(id)
    if (row === undefined || token === null || row.claim_token !== token.stored) {
      statuses.push(held.has(one) ? 'held' : null)
      continue
    }
    claimed.delete(id) // A claim settles once.
    now = integer(row.now)
    const status = outcome(verdict, integer(row.overtaken) === 1)
    statuses.push(status)
    const made = rejected === null ? [attempt] : [rejected, attempt]
    const attempted = integer(row.attempted)
    if (status !== 'pending') ends[status].push(id)
    else if (verdict.kind === 'retry') {
      // Two attempts at once are one step of the schedule.
      const scheduleFrom = integer(row.schedule_from) + made.length - 1
      retries.push([now + verdict.inMs, attempted + made.length, scheduleFrom, id])
    }
    attempts.push(...made.map((each, index) => attemptValues(id, attempted + 1 + index, each)))
    if (!judged) continue
    const { integration: integrationAddress } = row
    const report = reports.get(integrationAddress) ?? { integrationAddress, health: storedHealth(row), results: [] }
    reports.set(integrationAddress, report)
    report.results.push({
      delivered: verdict.kind === 'delivered',
      probe: claim.probe,
      epoch: token.endpointEpoch,
    })
  }
  return { statuses, ends, retries, attempts, reports: [...reports.values()], now }
}

function outcome(verdict: AttemptVerdict, overtaken: boolean): DeliveryStatus {
  if (verdict.kind !== 'retry') return verdict.kind
  // The newer version is owed its own attempt, and receivers would discard this one.
  return overtaken ? 'superseded' : 'pending'
}

function attemptValues(id: number, number: number, attempt: AttemptRecord): unknown[] {
  const { startedAt, latencyMs, status, reason, excerpt, replay } = attempt
  return [id, number, startedAt, latencyMs, status, pack(reason), pack(excerpt), replay ? 1 : 0]
}

/** The deliveries that are claimed, locked, with the health of their endpoints. */
async function claimedRows(
  db: Connection,
  dialect: SqlDialect,
  given: readonly Given[],
): Promise<Map<number, ClaimedRow>> {
  const ids = given.map(({ id }) => id)
  // Whether a newer version has a delivery matters to those alone that would be tried again.
  const retries = given.some(({ verdict }) => verdict.kind === 'retry')
  const rows = await runPrepared<ClaimedRow>(db, dialect, claimedText(dialect, ids, retries))
  return new Map(rows.map((row) => [integer(row.id), row]))
}

/** Of those that were not to be had: whose claim lasts, so that somebody else holds the row at this moment. */
async function heldElsewhere(
  db: Connection,
  dialect: SqlDialect,
  missing: readonly Given[],
): Promise<ReadonlySet<Given>> {
  const { name, oneOf } = dialect
  if (missing.length === 0) return new Set()
  const ids = missing.map(({ id }) => id)
  const rows = await run<{ id: Integer; claim_token: string }>(
    db,
    dialect,
    (parameter) => `select d.id, d.claim_token from ${name('outbox')} d
      where ${oneOf('d.id', 'integer', ids, parameter)} and d.claim_token is not null`,
  )
  const tokens = new Map(rows.map((row) => [integer(row.id), row.claim_token]))
  return new Set(missing.filter(({ id, token }) => token !== null && tokens.get(id) === token.stored))
}

/**
 * The statement that reads them, but for those that somebody else holds: one of them must not keep all others waiting.
 * @param looksNewer - Whether to look for newer versions; else nothing is overtaken.
 */
export function claimedText(dialect: SqlDialect, ids: readonly number[], looksNewer = true): StatementText {
  const { name, nowText, oneOf, skipLocked } = dialect
  const overtaken = `case when exists (
        select 1 from ${name('deliveries')} n where n.payment_id = d.payment_id and n.version > d.version
      ) then 1 else 0 end`
  return (
    parameter,
  ) => `select d.id, d.claim_token, d.attempted, d.schedule_from, d.integration, ${healthColumns}, ${nowText(parameter)} as now,
      ${looksNewer ? overtaken : '0'} as overtaken
    from ${name('outbox')} d cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where ${oneOf('d.id', 'integer', ids, parameter)} and d.claim_token is not null
      and i.address = d.integration
    order by d.id${skipLocked('d')}`
}
