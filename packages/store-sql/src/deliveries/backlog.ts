/** Size and age of the backlog, and the next due time. @module */
import type { DeliveryBacklog } from '@payment-integration/core/ports'
import type { Engine, Lane, SqlDialect } from '../engine.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { lastAddress, scanName, scanText } from './skip-scan.js'

/** Milliseconds until the next delivery can be claimed, 0 when one can, null when the outbox is empty. */
export async function msUntilDue(engine: Engine): Promise<number | null> {
  const { claimable, now } = await earliest(engine)
  return claimable === null ? null : Math.max(0, claimable - now)
}

/** The backlog; counted up to `atMost`. */
export async function backlog(engine: Engine, atMost: number): Promise<DeliveryBacklog> {
  const { rows } = await engine.dialect.pending(atMost).execute(engine.read)
  const { open, blocked, now } = await earliest(engine)
  const since = (due: number | null) => (due === null || due > now ? null : now - due)
  return { pending: integer(rows[0]?.pending ?? 0), oldestDueMs: since(open), oldestBlockedMs: since(blocked) }
}

// Deliveries of disabled integrations do not count: no time makes them due.
async function earliest({ read, dialect }: Engine) {
  const { rows } = await read.executeQuery<EarliestRow>(earliestQuery(dialect))
  const [row] = rows
  if (row === undefined) return { open: null, blocked: null, claimable: null, now: 0 }
  const { open_due, blocked_due, claimable, now } = row
  return {
    open: nullableInteger(open_due),
    blocked: nullableInteger(blocked_due),
    claimable: nullableInteger(claimable),
    now: integer(now),
  }
}

interface EarliestRow {
  open_due: Integer | null
  blocked_due: Integer | null
  claimable: Integer | null
  now: Integer
}

/**
 * The first due time of open endpoints, of blocked ones, and the first time at which a delivery can be claimed. A skip
 * scan per lane: a plain minimum would read the whole backlog.
 */
export function earliestQuery(dialect: SqlDialect) {
  const { name, nowText } = dialect
  const whole = (lane: Lane) => ({ lane, after: '', upTo: lastAddress })
  const lanes: readonly Lane[] = [0, 1, 2]
  const heads = (lane: Lane) => `select
      (select min(d.due_at) from ${name('outbox')} d
        where d.lane = ${lane} and d.integration = i.address) as due,
      ${lane === 2 ? 'null' : 'case when e.blocks > 0 then e.blocked_until end'} as blocked_until
    from ${scanName(lane)} w cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where i.address = w.integration and i.enabled = 1 and i.notification_url is not null`
  return compile<EarliestRow>(
    dialect,
    (parameter) => `with recursive ${lanes.map((lane) => scanText(name('outbox'), whole(lane), parameter)).join(', ')}
    select min(case when blocked_until is null then due end) as open_due,
      min(case when blocked_until is not null then due end) as blocked_due,
      min(case when blocked_until > due then blocked_until else due end) as claimable,
      ${nowText(parameter)} as now
    from (${lanes.map((lane) => heads(lane)).join(' union all ')}) heads`,
  )
}
