/** Settles attempts. See docs/decisions/settling.md, docs/decisions/retries.md. @module */
import type {
  AttemptVerdict,
  DeliveryStore,
  EndpointJudge,
  Settled,
  SettledAttempt,
  SettledStatus,
} from '@payment-integration/core/ports'
import type { BulkUpdate, Connection, Engine, SqlDialect } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { hexOf } from '../internal/hex.js'
import { run, runPrepared, type StatementText } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { attemptColumns, attemptValues } from './attempt-row.js'
import { type EndpointReport, type HealthRow, healthColumns, judgeEndpoints, storedHealth } from './endpoint-rows.js'
import { parseLeaseToken } from './lease.js'
import { giveUp, removeFromOutbox } from './leave-outbox.js'
import { isSuperseded } from './superseded.js'

/** Builds `settle`: logs attempts, settles their deliveries, then updates their endpoints' health. */
export function createSettle({ transaction, dialect }: Engine): DeliveryStore['settle'] {
  return async (settled, judge) => {
    if (settled.length === 0) return { statuses: [], transitions: [] }
    const given = settled.map((one) => {
      if (one.verdict.kind === 'retry') checkInteger(one.verdict.inMs, 'inMs')
      return { ...one, id: parseId(one.claim.deliveryId, 'deliveryId'), token: parseLeaseToken(one.claim.leaseToken) }
    })
    return transaction((db) => settle(db, dialect, given, judge), { searches: true })
  }
}

interface Given extends SettledAttempt {
  readonly id: number
  readonly token: ReturnType<typeof parseLeaseToken>
}

interface LeasedRow extends HealthRow {
  id: Integer
  claim_token: string
  attempted: Integer
  schedule_from: Integer
  /** As `hexOf` reads it. */
  integration: Uint8Array | string
  superseded: Integer
  now: Integer
}

/** The columns that a retry changes. */
const retryColumns: BulkUpdate['columns'] = [
  { name: 'due_at', type: 'integer' },
  { name: 'attempted', type: 'integer' },
  { name: 'schedule_from', type: 'integer' },
]

async function settle(
  db: Connection,
  dialect: SqlDialect,
  given: readonly Given[],
  judge: EndpointJudge,
): Promise<Settled> {
  const leased = await lockLeased(db, dialect, given)
  const locked = await lockedElsewhere(
    db,
    dialect,
    given.filter(({ id }) => !leased.has(id)),
  )
  const { statuses, ends, retries, attempts, reports, now } = collect(given, leased, locked)
  await removeFromOutbox(db, dialect, ends.delivered)
  for (const reason of ['exhausted', 'superseded'] as const) await giveUp(db, dialect, reason, ends[reason])
  const fixed = ['claim_token = null', 'lane = 1']
  await dialect.updateAll(db, { table: 'outbox', columns: retryColumns, fixed, rows: retries })
  await dialect.insertAll(db, { table: 'attempts', columns: attemptColumns, rows: attempts, sends: true })
  return { statuses, transitions: await judgeEndpoints(db, dialect, reports, { judge, now }) }
}

/** The rows to write for the attempts whose lease was not lost. */
function collect(given: readonly Given[], leased: Map<number, LeasedRow>, locked: ReadonlySet<Given>) {
  const statuses: Settled['statuses'][number][] = []
  const ends: Record<Exclude<SettledStatus, 'pending'>, number[]> = { delivered: [], exhausted: [], superseded: [] }
  const retries: unknown[][] = []
  const attempts: unknown[][] = []
  const reports = new Map<string, EndpointReport & { results: EndpointReport['results'][number][] }>()
  let now = 0
  for (const one of given) {
    const { id, token, rejected = null, attempt, claim, verdict, countsForHealth = true } = one
    const row = leased.get(id)
    if (row === undefined || token === null || row.claim_token !== token.stored) {
      statuses.push(locked.has(one) ? 'locked' : null)
      continue
    }
    leased.delete(id) // A lease settles once.
    now = integer(row.now)
    const status = outcome(verdict, integer(row.superseded) === 1)
    statuses.push(status)
    const records = rejected === null ? [attempt] : [rejected, attempt]
    const attempted = integer(row.attempted)
    if (status !== 'pending') ends[status].push(id)
    else if (verdict.kind === 'retry') {
      // A rejected attempt and its repetition are one step of the schedule.
      const scheduleFrom = integer(row.schedule_from) + records.length - 1
      retries.push([now + verdict.inMs, attempted + records.length, scheduleFrom, id])
    }
    attempts.push(...records.map((each, index) => attemptValues(id, attempted + 1 + index, each)))
    if (!countsForHealth) continue
    const integrationAddress = hexOf(row.integration)
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

function outcome(verdict: AttemptVerdict, superseded: boolean): SettledStatus {
  if (verdict.kind !== 'retry') return verdict.kind
  return superseded ? 'superseded' : 'pending'
}

/** Locks the leased deliveries and reads them with the health of their endpoints. */
async function lockLeased(
  db: Connection,
  dialect: SqlDialect,
  given: readonly Given[],
): Promise<Map<number, LeasedRow>> {
  const ids = given.map(({ id }) => id)
  // Only a retry can be superseded.
  const hasRetry = given.some(({ verdict }) => verdict.kind === 'retry')
  const rows = await runPrepared<LeasedRow>(db, dialect, lockLeasedText(dialect, ids, hasRetry))
  return new Map(rows.map((row) => [integer(row.id), row]))
}

/** The deliveries that still have the given lease: another transaction locks their rows. */
async function lockedElsewhere(
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
 * The statement that locks leased deliveries. It skips rows locked by others, which would delay the whole group.
 * @param checksVersions - Whether to look for newer versions; without, nothing is superseded.
 */
export function lockLeasedText(dialect: SqlDialect, ids: readonly number[], checksVersions = true): StatementText {
  const { name, nowText, oneOf, skipLocked } = dialect
  const [superseded, snapshot, ofDelivery] = checksVersions
    ? [`case when ${isSuperseded(dialect)} then 1 else 0 end`, `cross join ${name('snapshots')} s`, 'and s.id = d.id']
    : ['0', '', '']
  return (
    parameter,
  ) => `select d.id, d.claim_token, d.attempted, d.schedule_from, d.integration, ${healthColumns}, ${nowText(parameter)} as now,
      ${superseded} as superseded
    from ${name('outbox')} d ${snapshot} cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where ${oneOf('d.id', 'integer', ids, parameter)} and d.claim_token is not null
      and i.address = d.integration ${ofDelivery}
    order by d.id${skipLocked('d')}`
}
