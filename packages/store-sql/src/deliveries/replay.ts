/** Makes deliveries due once more for an operator. See docs/decisions/replays.md. @module */
import type { Replayed, ReplayRequest } from '@payment-integration/core/ports'
import type { Connection, Parameter, SqlDialect } from '../engine.js'
import { lowestReplayable } from '../history/segments.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { filtered, idOf } from './filter.js'
import { withIdRange } from './first-id.js'

/** Makes deliveries due now, with a new schedule. Leased ones are left alone. */
export async function replayDeliveries(db: Connection, dialect: SqlDialect, request: ReplayRequest): Promise<Replayed> {
  const limit = checkInteger(request.limit, 'limit', 1)
  // The history of a closed segment no longer changes.
  const lowest = await lowestReplayable(db, dialect)
  const found = await filtered(db, await withIdRange(db, request))
    .where(idOf(request), '>=', lowest)
    .select(['d.id', 'q.id as pending'])
    .orderBy(idOf(request))
    .limit(limit)
    .execute()
  const ids = found.map(({ id }) => integer(id))
  const lastId = ids.at(-1)
  if (lastId === undefined) return { replayed: 0, underWay: 0, lastId: null }
  // A delivery that is settled meanwhile is left alone: it may be delivered now.
  const idsOf = (pending: boolean) =>
    found.filter((row) => (row.pending !== null) === pending).map(({ id }) => integer(id))
  const replayed = (await restart(db, dialect, idsOf(true))) + (await returnToOutbox(db, dialect, idsOf(false)))
  return { replayed, underWay: ids.length - replayed, lastId: String(lastId) }
}

/** Restarts pending deliveries. A locked row is being claimed, settled or replayed, so it is skipped. */
async function restart(db: Connection, dialect: SqlDialect, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0
  const { name, nowText, oneOf, skipLocked } = dialect
  const rows = await run<{ id: Integer }>(db, dialect, (parameter) => {
    const now = nowText(parameter)
    return `update ${name('outbox')} set lane = 2, due_at = ${now}, claim_token = null, replayed_at = ${now}, schedule_from = attempted
      where id in (
        select d.id from ${name('outbox')} d where ${oneOf('d.id', 'integer', ids, parameter)}
          and (d.claim_token is null or d.due_at <= ${now})${skipLocked('d')}
      ) returning id`
  })
  return rows.length
}

/** Returns finished deliveries to the outbox, apart from those that another replay returned meanwhile. */
async function returnToOutbox(db: Connection, dialect: SqlDialect, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0
  const { name, nowText, oneOf } = dialect
  const rows = await run<{ id: Integer }>(db, dialect, (parameter) => {
    const now = nowText(parameter)
    return `insert into ${name('outbox')}
        (id, integration, lane, due_at, replayed_at, attempted, schedule_from)
      select d.id, d.integration, 2, ${now}, ${now}, 0, 0
      from ${name('snapshots')} d where ${oneOf('d.id', 'integer', ids, parameter)}
        and not exists (select 1 from ${name('outbox')} q where q.id = d.id)
      order by d.id on conflict (id) do nothing returning id`
  })
  const returned = rows.map(({ id }) => integer(id))
  if (returned.length === 0) return 0
  const own = (parameter: Parameter) => oneOf('id', 'integer', returned, parameter)
  // Counted only now that the rows are ours: another replay may have added attempts and finished.
  const counted = `(select coalesce(max(a.number), 0) from ${name('attempts')} a where a.delivery_id = ${name('outbox')}.id)`
  await run(
    db,
    dialect,
    (parameter) =>
      `update ${name('outbox')} set attempted = ${counted}, schedule_from = ${counted} where ${own(parameter)}`,
  )
  await run(
    db,
    dialect,
    (parameter) =>
      `update ${name('snapshots')} set undelivered = null where ${own(parameter)} and undelivered is not null`,
  )
  return returned.length
}
