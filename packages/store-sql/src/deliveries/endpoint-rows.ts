/** How endpoints are doing, as rows: one while the last attempt failed, none where all is well. @module */
import type {
  EndpointChange,
  EndpointHealth,
  EndpointJudge,
  EndpointResult,
  EndpointTurn,
  EndpointView,
} from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { run } from '../internal/statement.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { EndpointRow } from '../schema/tables.js'

/** An endpoint's health as it is stored, with what its integration said. */
export interface StoredHealth extends EndpointHealth {
  readonly failingSince: number | null
  /** How often the endpoint began anew. */
  readonly epoch: number
}

/** The columns that {@link storedHealth} reads, of `integrations i left join endpoints e`. */
export const healthColumns = 'i.endpoint_epoch, e.failures, e.blocks, e.failing_since'

/** A row with {@link healthColumns}. */
export interface HealthRow {
  endpoint_epoch: Integer
  failures: Integer | null
  blocks: Integer | null
  failing_since: Integer | null
}

/** The health in a row. */
export function storedHealth(row: HealthRow): StoredHealth {
  return {
    epoch: integer(row.endpoint_epoch),
    failures: nullableInteger(row.failures) ?? 0,
    blocks: nullableInteger(row.blocks) ?? 0,
    failingSince: row.failing_since === null ? null : noted(row.failing_since),
  }
}

/** A time; 0 stands for one that was not noted. */
const noted = (at: Integer): number | null => integer(at) || null

/** What settled attempts say of one endpoint. */
export interface EndpointReport {
  readonly integrationAddress: string
  /** As it was read with the deliveries. */
  readonly health: StoredHealth
  readonly results: readonly (EndpointResult & { readonly epoch: number })[]
}

/**
 * Judges endpoints and writes what became of them. Those that are well and stay so, which is nearly always, cost nothing.
 * @param now - The store's time in unix milliseconds.
 */
export async function judgeEndpoints(
  db: Connection,
  dialect: SqlDialect,
  reports: readonly EndpointReport[],
  { judge, now }: { readonly judge: EndpointJudge; readonly now: number },
): Promise<EndpointTurn[]> {
  const changing = reports.filter((report) => judged(report, report.health, judge) !== null)
  if (changing.length === 0) return []
  // Others may have settled results of these endpoints since, or changed their URL: from here on nobody does.
  const healths = await lockHealths(
    db,
    dialect,
    changing.map(({ integrationAddress }) => integrationAddress),
  )
  const turns: EndpointTurn[] = []
  for (const report of changing.sort((a, b) => (a.integrationAddress < b.integrationAddress ? -1 : 1))) {
    const { integrationAddress } = report
    const before = healths.get(integrationAddress)
    const change = before === undefined ? null : judged(report, before, judge)
    if (before === undefined || change === null) continue
    const began = before.failures === 0 || report.results.some(({ delivered }) => delivered)
    const failingSince = change.failures > 0 && began ? now : (before.failingSince ?? now)
    await write(db, dialect, { integrationAddress, change, failingSince, now })
    const blocked = change.blocks > 0
    if (blocked === before.blocks > 0) continue
    turns.push({
      integrationAddress,
      blocked,
      failingMs: now - (blocked ? failingSince : (before.failingSince ?? now)),
    })
  }
  return turns
}

/** The change, or null where nothing is to be written. */
function judged({ results }: EndpointReport, before: StoredHealth, judge: EndpointJudge): EndpointChange | null {
  const counting = results.filter(({ epoch }) => epoch === before.epoch)
  if (counting.length === 0) return null
  const change = judge(
    { failures: before.failures, blocks: before.blocks },
    counting.map(({ delivered, probe }) => ({ delivered, probe })),
  )
  const same = change.failures === before.failures && change.blocks === before.blocks && change.blockMs === null
  return same ? null : change
}

/** How long an endpoint may be held by somebody else before its results are left for another settle, in milliseconds. */
const lockWaitMs = 1_000

/** Reads the health of endpoints that nobody else writes until the transaction ends. */
async function lockHealths(
  db: Connection,
  dialect: SqlDialect,
  addresses: readonly string[],
): Promise<Map<string, StoredHealth>> {
  const { name, oneOf, lockRows } = dialect
  const integrations = `${name('integrations')} i`
  await dialect.waitAtMost(db, lockWaitMs)
  // The integration's row stands for an endpoint that has none; and only a statement after the wait sees what others wrote.
  await run(
    db,
    dialect,
    (parameter) => `select i.address from ${integrations} where ${oneOf('i.address', 'text', addresses, parameter)}
      order by i.address${lockRows('i')}`,
  )
  const rows = await run<HealthRow & { address: string }>(
    db,
    dialect,
    (parameter) => `select i.address, ${healthColumns}
      from ${integrations} left join ${name('endpoints')} e on e.integration = i.address
      where ${oneOf('i.address', 'text', addresses, parameter)}`,
  )
  return new Map(rows.map((row) => [row.address, storedHealth(row)]))
}

async function write(
  db: Connection,
  dialect: SqlDialect,
  {
    integrationAddress,
    change: { failures, blocks, blockMs },
    failingSince,
    now,
  }: {
    readonly integrationAddress: string
    readonly change: EndpointChange
    readonly failingSince: number
    readonly now: number
  },
): Promise<void> {
  const table = dialect.name('endpoints')
  if (failures === 0 && blocks === 0) return forgetHealth(db, dialect, integrationAddress)
  await run(db, dialect, (parameter) => {
    const blockedUntil = blocks === 0 ? null : now + (blockMs ?? 0)
    const values = [integrationAddress, failures, blocks, failingSince, blockedUntil].map(parameter)
    const until =
      blocks > 0 && blockMs === null ? 'coalesce(e.blocked_until, excluded.blocked_until)' : 'excluded.blocked_until'
    return `insert into ${table} as e (integration, failures, blocks, failing_since, blocked_until)
      values (${values.join(', ')})
      on conflict (integration) do update set failures = excluded.failures, blocks = excluded.blocks,
        failing_since = excluded.failing_since, blocked_until = ${until}`
  })
}

/** Forgets how an endpoint was doing. */
export async function forgetHealth(db: Connection, dialect: SqlDialect, address: string): Promise<void> {
  await run(
    db,
    dialect,
    (parameter) => `delete from ${dialect.name('endpoints')} where integration = ${parameter(address)}`,
  )
}

/**
 * Takes the right to probe endpoints whose block is over, until the lease ends. Resolves the integrations whose probe is the caller's.
 */
export async function takeProbes(
  db: Connection,
  dialect: SqlDialect,
  addresses: readonly string[],
  { leaseMs, now: moment }: { readonly leaseMs: number; readonly now: ReturnType<SqlDialect['moment']> },
): Promise<ReadonlySet<string>> {
  const { name, oneOf, skipLocked } = dialect
  const rows = await run<{ integration: string }>(db, dialect, (parameter) => {
    const now = moment(parameter)
    return `update ${name('endpoints')} set blocked_until = ${now} + ${parameter(leaseMs)} where integration in (
        select e.integration from ${name('endpoints')} e
        where ${oneOf('e.integration', 'text', addresses, parameter)} and e.blocks > 0 and e.blocked_until <= ${now}${skipLocked('e')}
      ) returning integration`
  })
  return new Set(rows.map(({ integration }) => integration))
}

/** Endpoints with failures in a row, by address. */
export async function listEndpoints(read: Connection): Promise<EndpointView[]> {
  const rows = await read.selectFrom('endpoints').selectAll().where('failures', '>', 0).orderBy('integration').execute()
  return rows.map((row: EndpointRow) => ({
    integrationAddress: row.integration,
    failures: integer(row.failures),
    blocks: integer(row.blocks),
    failingSince: noted(row.failing_since),
    blockedUntil: nullableInteger(row.blocked_until),
  }))
}
