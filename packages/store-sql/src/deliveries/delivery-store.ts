/** The outbox. @module */
import type { DeliveryBacklog, DeliveryStore, Ids } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Differences, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'
import { createClaim } from './claim.js'
import { createList } from './list.js'
import { createSettle } from './settle.js'

/** Claims, settles and lists deliveries. `ids` makes the tokens of claims. */
export function createDeliveryStore(engine: Engine, ids: Ids): DeliveryStore {
  return {
    claim: createClaim(engine, ids),
    settle: createSettle(engine),
    list: createList(engine),
    msUntilDue: () => msUntilDue(engine),
    backlog: async ({ atMost }) => backlog(engine, checkInteger(atMost, 'atMost', 1)),
  }
}

async function msUntilDue(engine: Engine): Promise<number | null> {
  const dueIn = await earliestDueIn(engine)
  return dueIn === null ? null : Math.max(0, dueIn)
}

async function backlog(engine: Engine, atMost: number): Promise<DeliveryBacklog> {
  const { rows } = await engine.differences.pending(atMost).execute(engine.read)
  const dueIn = await earliestDueIn(engine)
  return {
    pending: integer(rows[0]?.pending ?? 0),
    oldestDueMs: dueIn === null || dueIn > 0 ? null : Math.max(0, -dueIn),
  }
}

/** Milliseconds until the next delivery is due, negative once it is; null when none is pending. */
// Deliveries held for a disabled integration are not waited for: nothing here makes them due.
async function earliestDueIn({ read, differences }: Engine): Promise<number | null> {
  const { rows } = await earliestQuery(differences).execute(read)
  const [row] = rows
  const due = row === undefined ? [] : [row.first, row.again].filter((at) => at !== null).map(integer)
  return row === undefined || due.length === 0 ? null : Math.min(...due) - integer(row.now)
}

/** When the next delivery of each lane is due. One index probe per integration: a plain minimum would walk the backlog. */
export function earliestQuery(differences: Differences) {
  const deliveries = sql.raw(differences.name('deliveries'))
  const earliest = (lane: 0 | 1) => sql`(select min(d.due_at) from ${deliveries} d
    where d.status = 'pending' and d.integration = i.address and d.lane = ${sql.lit(lane)})`
  return sql<{ first: Integer | null; again: Integer | null; now: Integer }>`
    select min(${earliest(0)}) as first, min(${earliest(1)}) as again, ${differences.now()} as now
    from ${sql.raw(differences.name('integrations'))} i
    where i.enabled = 1 and i.notification_url is not null`
}
