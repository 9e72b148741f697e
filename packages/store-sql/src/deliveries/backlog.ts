/** How much waits to be sent, and for how long. @module */
import type { DeliveryBacklog } from '@payment-integration/core/ports'
import type { Engine, Lane, SqlDialect } from '../engine.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { lastAddress, walkName, walkText } from './walk.js'

/** Milliseconds until the next delivery can be claimed, 0 when one can, null when none is pending. */
export async function msUntilDue(engine: Engine): Promise<number | null> {
  const { claimable, now } = await earliest(engine)
  return claimable === null ? null : Math.max(0, claimable - now)
}

/** What waits; counted up to `atMost`. */
export async function backlog(engine: Engine, atMost: number): Promise<DeliveryBacklog> {
  const { rows } = await engine.dialect.pending(atMost).execute(engine.read)
  const { open, blocked, now } = await earliest(engine)
  const since = (due: number | null) => (due === null || due > now ? null : now - due)
  return { pending: integer(rows[0]?.pending ?? 0), oldestDueMs: since(open), oldestBlockedMs: since(blocked) }
}

// Deliveries held for a disabled integration are not waited for: nothing here makes them due.
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
 * When the next delivery of endpoints that are not blocked is due, the next one of those that are, and when one can be claimed, which is not
 * before the block of its endpoint ends. One search of the index per integration that has something pending in a lane: a plain minimum
 * would walk the backlog.
 */
export function earliestQuery(dialect: SqlDialect) {
  const { name, nowText } = dialect
  const everything = (lane: Lane) => ({ lane, after: '', upTo: lastAddress })
  const lanes: readonly Lane[] = [0, 1, 2]
  const heads = (lane: Lane) => `select
      (select min(d.due_at) from ${name('outbox')} d
        where d.lane = ${lane} and d.integration = i.address) as due,
      ${lane === 2 ? 'null' : 'case when e.blocks > 0 then e.blocked_until end'} as blocked_until
    from ${walkName(lane)} w cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where i.address = w.integration and i.enabled = 1 and i.notification_url is not null`
  return compile<EarliestRow>(
    dialect,
    (
      parameter,
    ) => `with recursive ${lanes.map((lane) => walkText(name('outbox'), everything(lane), parameter)).join(', ')}
    select min(case when blocked_until is null then due end) as open_due,
      min(case when blocked_until is not null then due end) as blocked_due,
      min(case when blocked_until > due then blocked_until else due end) as claimable,
      ${nowText(parameter)} as now
    from (${lanes.map((lane) => heads(lane)).join(' union all ')}) heads`,
  )
}
