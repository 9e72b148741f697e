/** How much waits to be sent, and for how long. @module */
import type { DeliveryBacklog } from '@payment-integration/core/ports'
import type { Differences, Engine, Lane } from '../engine.js'
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
  const { rows } = await engine.differences.pending(atMost).execute(engine.read)
  const { open, blocked, now } = await earliest(engine)
  const since = (due: number | null) => (due === null || due > now ? null : now - due)
  return { pending: integer(rows[0]?.pending ?? 0), oldestDueMs: since(open), oldestBlockedMs: since(blocked) }
}

// Deliveries held for a disabled integration are not waited for: nothing here makes them due.
async function earliest({ read, differences }: Engine) {
  const { rows } = await read.executeQuery<EarliestRow>(earliestQuery(differences))
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

/** Of how many held deliveries of one integration the end of the lease is looked at. */
const mostHeld = 1_000

interface EarliestRow {
  open_due: Integer | null
  blocked_due: Integer | null
  claimable: Integer | null
  now: Integer
}

/**
 * When the next delivery of endpoints that are not blocked is due, the next one of those that are, and when one can be claimed, which is not
 * before the block of its endpoint ends. Searches of the index for each integration that has something pending in a lane, past what is
 * held of it: a plain minimum would walk the backlog.
 */
export function earliestQuery(differences: Differences) {
  const { name, nowText } = differences
  const everything = (lane: Lane) => ({ lane, after: '', upTo: lastAddress })
  const lanes: readonly Lane[] = [0, 1, 2]
  const pending = (lane: Lane) => `from ${name('deliveries')} d
    where d.status = 'pending' and d.lane = ${lane} and d.integration = i.address`
  const free = (lane: Lane) =>
    `(select d.due_at ${pending(lane)} and d.leased_until is null order by d.due_at, d.id limit 1)`
  // Where nothing is due that nobody holds, what was due is held: a few deliveries, of which the first lease to end counts. Order and limit keep
  // the search in the index.
  const held = (lane: Lane, now: string) => `case when ${free(lane)} <= ${now} then null else (
      select min(h.leased_until) from (
        select d.leased_until ${pending(lane)} and d.due_at <= ${now} order by d.due_at, d.id limit ${mostHeld}
      ) h) end`
  const heads = (lane: Lane, due: string) => `select ${due} as due,
      ${lane === 2 ? 'null' : 'case when e.blocks > 0 then e.blocked_until end'} as blocked_until
    from ${walkName(lane)} w cross join ${name('integrations')} i
      left join ${name('endpoints')} e on e.integration = i.address
    where i.address = w.integration and i.enabled = 1 and i.notification_url is not null`
  return compile<EarliestRow>(
    differences,
    (
      parameter,
    ) => `with recursive ${lanes.map((lane) => walkText(name('deliveries'), everything(lane), parameter)).join(', ')}
    select min(case when blocked_until is null then due end) as open_due,
      min(case when blocked_until is not null then due end) as blocked_due,
      min(case when blocked_until > due then blocked_until else due end) as claimable,
      ${nowText(parameter)} as now
    from (${lanes
      .flatMap((lane) => [heads(lane, free(lane)), heads(lane, held(lane, nowText(parameter)))])
      .join(' union all ')}) heads`,
  )
}
