/** Sending deliveries again because an operator asks for it. Source: DESIGN section 3 (retries). @module */
import type { Replayed, ReplayRequest } from '@payment-integration/core/ports'
import type { Connection, Differences } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { filtered } from './filter.js'

/** Makes deliveries due now, with a schedule that begins anew; those that a dispatcher holds are left alone. */
export async function replayDeliveries(
  db: Connection,
  differences: Differences,
  request: ReplayRequest,
): Promise<Replayed> {
  const limit = checkInteger(request.limit, 'limit', 1)
  const found = await filtered(db, request).select('d.id').orderBy('d.id').limit(limit).execute()
  const ids = found.map(({ id }) => integer(id))
  const lastId = ids.at(-1)
  if (lastId === undefined) return { replayed: 0, underWay: 0, lastId: null }
  const { name, nowText, oneOf, skipLocked } = differences
  // One whose row is locked is being claimed, settled or replayed at this moment.
  const replayed = await run<{ id: Integer }>(db, differences, (parameter) => {
    const now = nowText(parameter)
    return `update ${name('deliveries')} set status = 'pending', lane = 2, due_at = ${now}, claim_token = null,
        replayed_at = ${now}, schedule_from = attempted
      where id in (
        select d.id from ${name('deliveries')} d where ${oneOf('d.id', 'integer', ids, parameter)}
          and (d.status <> 'pending' or d.claim_token is null or d.due_at <= ${now})${skipLocked('d')}
      ) returning id`
  })
  return { replayed: replayed.length, underWay: ids.length - replayed.length, lastId: String(lastId) }
}
