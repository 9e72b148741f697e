/** How much waits to be sent, and for how long. @module */
import type { DeliveryBacklog } from '@payment-integration/core/ports'
import type { Differences, Engine } from '../engine.js'
import { compile } from '../internal/statement.js'
import { integer, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'

/** Milliseconds until the next delivery can be claimed, 0 when one can, null when none is pending. */
export async function msUntilDue(engine: Engine): Promise<number | null> {
  const { claimable, now } = await earliest(engine)
  return claimable === null ? null : Math.max(0, claimable - now)
}

/** What waits; counted up to `atMost`. What waits for a blocked endpoint is late as well. */
export async function backlog(engine: Engine, atMost: number): Promise<DeliveryBacklog> {
  const { rows } = await engine.differences.pending(atMost).execute(engine.read)
  const { due, now } = await earliest(engine)
  return {
    pending: integer(rows[0]?.pending ?? 0),
    oldestDueMs: due === null || due > now ? null : now - due,
  }
}

// Deliveries held for a disabled integration are not waited for: nothing here makes them due.
async function earliest({ read, differences }: Engine) {
  const { rows } = await read.executeQuery<EarliestRow>(earliestQuery(differences))
  const [row] = rows
  if (row === undefined) return { due: null, claimable: null, now: 0 }
  return { due: nullableInteger(row.due), claimable: nullableInteger(row.claimable), now: integer(row.now) }
}

interface EarliestRow {
  due: Integer | null
  claimable: Integer | null
  now: Integer
}

/**
 * When the next delivery is due, and when one can be claimed, which is not before the block of its endpoint ends. One probe of the
 * index per integration and lane: a plain minimum would walk the backlog.
 */
export function earliestQuery(differences: Differences) {
  const { name, nowText } = differences
  const first = (lane: 0 | 1 | 2) => `(select min(d.due_at) from ${name('deliveries')} d
    where d.status = 'pending' and d.integration = i.address and d.lane = ${lane}) as lane${lane}`
  // Aggregates pass nulls over, which scalar comparisons do not.
  const claimable = (lane: 0 | 1) =>
    `min(case when blocked_until > lane${lane} then blocked_until else lane${lane} end)`
  const least = (...values: readonly string[]) =>
    `(select min(v) from (${values.map((value) => `select ${value} as v`).join(' union all ')}) m)`
  return compile<EarliestRow>(
    differences,
    (parameter) => `select ${least('lane0', 'lane1', 'lane2')} as due, ${least('open0', 'open1', 'lane2')} as claimable,
      ${nowText(parameter)} as now
    from (
      select min(lane0) as lane0, min(lane1) as lane1, min(lane2) as lane2,
        ${claimable(0)} as open0, ${claimable(1)} as open1
      from (
        select case when e.blocks > 0 then e.blocked_until end as blocked_until, ${[first(0), first(1), first(2)].join(', ')}
        from ${name('integrations')} i left join ${name('endpoints')} e on e.integration = i.address
        where i.enabled = 1 and i.notification_url is not null
      ) each_endpoint
    ) earliest`,
  )
}
