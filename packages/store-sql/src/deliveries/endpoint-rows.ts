/** Stores endpoint health: a row exists only while the last attempt failed. @module */
import type {
  DeliveryStore,
  EndpointChange,
  EndpointHealth,
  EndpointJudge,
  EndpointResult,
  EndpointTransition,
  EndpointView,
} from '@payment-integration/core/internal'
import type { Connection, SqlDialect } from '../engine.js'
import { run, type StatementText } from '../internal/statements.js'
import { checkInteger, parseHex, parseKey, toHex, toNullableNumber, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

export interface StoredHealth extends EndpointHealth {
  readonly failingSince: number | null
  /** Counts the resets of the endpoint's health. */
  readonly epoch: number
}

export const healthColumns = 'i.endpoint_epoch, e.failures, e.blocks, e.failing_since'

export interface HealthRow {
  endpoint_epoch: Integer
  failures: Integer | null
  blocks: Integer | null
  failing_since: Integer | null
}

export function toStoredHealth(row: HealthRow): StoredHealth {
  return {
    epoch: toNumber(row.endpoint_epoch),
    failures: toNullableNumber(row.failures) ?? 0,
    blocks: toNullableNumber(row.blocks) ?? 0,
    failingSince: toNullableNumber(row.failing_since),
  }
}

export interface EndpointReport {
  readonly integrationAddress: string
  /** The health that was read with the deliveries. */
  readonly health: StoredHealth
  readonly results: readonly (EndpointResult & { readonly epoch: number })[]
}

/** Updates the health of endpoints; a healthy endpoint costs no statement. */
export async function judgeEndpoints(
  db: Connection,
  reports: readonly EndpointReport[],
  { judge, now }: { readonly judge: EndpointJudge; readonly now: number },
): Promise<EndpointTransition[]> {
  const changing = reports.filter((report) => computeChange(report, report.health, judge) !== null)
  if (changing.length === 0) return []
  // Another transaction may have changed the health since; the lock prevents further changes.
  const addresses = changing.map(({ integrationAddress }) => integrationAddress)
  const healths = await lockHealths(db, addresses)
  const transitions: EndpointTransition[] = []
  for (const report of changing.sort((a, b) => (a.integrationAddress < b.integrationAddress ? -1 : 1))) {
    const { integrationAddress } = report
    const before = healths.get(integrationAddress)
    const change = before === undefined ? null : computeChange(report, before, judge)
    if (before === undefined || change === null) continue
    const isDelivered = report.results.some(({ delivered, epoch }) => delivered && epoch === before.epoch)
    const isFirstFailure = before.failures === 0 || isDelivered
    const failingSince = change.failures > 0 && isFirstFailure ? now : (before.failingSince ?? now)
    const isBlocked = change.blocks > 0
    const blockEnd = isBlocked ? now + (change.blockMs ?? 0) : null
    await writeHealth(db, integrationAddress, change, { failingSince, blockEnd })
    if (isBlocked === before.blocks > 0) continue
    transitions.push({
      integrationAddress,
      failures: change.failures,
      blockedUntil: blockEnd,
      failingMs: now - (isBlocked ? failingSince : (before.failingSince ?? now)),
    })
  }
  return transitions
}

/** The new health, or null if it stays the same. */
function computeChange({ results }: EndpointReport, before: StoredHealth, judge: EndpointJudge): EndpointChange | null {
  const counting = results.filter(({ epoch }) => epoch === before.epoch)
  if (counting.length === 0) return null
  const change = judge(
    { failures: before.failures, blocks: before.blocks },
    counting.map(({ delivered, probe }) => ({ delivered, probe })),
  )
  const isSame = change.failures === before.failures && change.blocks === before.blocks && change.blockMs === null
  return isSame ? null : change
}

/** Longest wait for another transaction's lock of an endpoint, in milliseconds; then settling fails as busy. */
const lockWaitMs = 1_000

async function lockHealths(db: Connection, addresses: readonly string[]): Promise<Map<string, StoredHealth>> {
  const { name, oneOf, lockRows } = db.dialect
  const integrations = `${name('integrations')} i`
  await db.dialect.waitAtMost(db, lockWaitMs)
  // Locks the integration's row: the endpoint may have no row. Only a statement after the wait sees others' writes.
  const lockText: StatementText = (parameter) => `select i.address from ${integrations}
    where ${oneOf('i.address', 'hex', addresses, parameter)} order by i.address${lockRows('i')}`
  await run(db, lockText)
  const readText: StatementText = (parameter) => `select i.address, ${healthColumns}
    from ${integrations} left join ${name('endpoints')} e on e.integration = i.address
    where ${oneOf('i.address', 'hex', addresses, parameter)}`
  const rows = await run<HealthRow & { address: Uint8Array }>(db, readText)
  return new Map(rows.map((row) => [toHex(row.address), toStoredHealth(row)]))
}

async function writeHealth(
  db: Connection,
  integrationAddress: string,
  { failures, blocks, blockMs }: EndpointChange,
  { failingSince, blockEnd }: { readonly failingSince: number; readonly blockEnd: number | null },
): Promise<void> {
  const table = db.dialect.name('endpoints')
  if (failures === 0 && blocks === 0) return forgetHealth(db, integrationAddress)
  await run(db, (parameter) => {
    const values = [parseHex(integrationAddress), failures, blocks, failingSince, blockEnd].map(parameter)
    const until =
      blocks > 0 && blockMs === null ? 'coalesce(e.blocked_until, excluded.blocked_until)' : 'excluded.blocked_until'
    return `insert into ${table} as e (integration, failures, blocks, failing_since, blocked_until)
      values (${values.join(', ')})
      on conflict (integration) do update set failures = excluded.failures, blocks = excluded.blocks,
        failing_since = excluded.failing_since, blocked_until = ${until}`
  })
}

export async function forgetHealth(db: Connection, address: string): Promise<void> {
  const text: StatementText = (parameter) =>
    `delete from ${db.dialect.name('endpoints')} where integration = ${parameter(parseHex(address))}`
  await run(db, text)
}

/** Leases the probes of endpoints whose block has ended. Returns the integrations that the caller may probe. */
export async function takeProbes(
  db: Connection,
  addresses: readonly string[],
  { leaseMs, now: moment }: { readonly leaseMs: number; readonly now: ReturnType<SqlDialect['moment']> },
): Promise<ReadonlySet<string>> {
  const { name, oneOf, skipLocked } = db.dialect
  const rows = await run<{ integration: Uint8Array }>(db, (parameter) => {
    const now = moment(parameter)
    return `update ${name('endpoints')} set blocked_until = ${now} + ${parameter(leaseMs)} where integration in (
        select e.integration from ${name('endpoints')} e
        where ${oneOf('e.integration', 'hex', addresses, parameter)} and e.blocks > 0 and e.blocked_until <= ${now}${skipLocked('e')}
      ) returning integration`
  })
  return new Set(rows.map(({ integration }) => toHex(integration)))
}

export function createEndpointReads(db: Connection): Pick<DeliveryStore, 'endpoints' | 'endpoint'> {
  return {
    async endpoints({ limit } = {}) {
      const all = selectFailing(db).orderBy('integration')
      const rows = limit === undefined ? all : all.limit(checkInteger(limit, 'limit', 1))
      return (await rows.execute()).map(toView)
    },
    async endpoint(address) {
      const row = await selectFailing(db).where('integration', '=', parseKey(address)).executeTakeFirst()
      return row === undefined ? null : toView(row)
    },
  }
}

const selectFailing = (db: Connection) => db.selectFrom('endpoints').selectAll().where('failures', '>', 0)

const toView = (row: Tables['endpoints']): EndpointView => ({
  integrationAddress: toHex(row.integration),
  failures: toNumber(row.failures),
  blocks: toNumber(row.blocks),
  failingSince: toNumber(row.failing_since),
  blockedUntil: toNullableNumber(row.blocked_until),
})
