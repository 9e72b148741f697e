/** Deliveries whose claim was lost: its lease ended, and nobody settled it. Source: DESIGN section 3 (retries). @module */
import type { Connection, Differences } from '../engine.js'
import { runKept } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Candidate } from './candidate.js'
import type { Moment } from './candidates.js'
import { isPending } from './pending.js'

/**
 * Moves them out of the lane of first attempts, due since the end of the lease. The token stays: until somebody claims them again a late answer counts.
 * @returns The ids of those that somebody else holds at this moment.
 */
export async function moveLapsed(
  db: Connection,
  differences: Differences,
  lapsed: readonly Candidate[],
  moment: Moment,
): Promise<readonly number[]> {
  const { name, oneOf, skipLocked } = differences
  const ids = lapsed.map(({ id }) => id)
  const moved = await runKept<{ id: Integer }>(db, differences, (parameter) => {
    const now = moment(parameter)
    return `update ${name('deliveries')} set lane = case lane when 2 then 2 else 1 end, due_at = leased_until, leased_until = null
      where id in (
        select d.id from ${name('deliveries')} d where ${oneOf('d.id', 'integer', ids, parameter)}
          and ${isPending('d')} and d.leased_until <= ${now}${skipLocked('d')}
      ) returning id`
  })
  const free = new Set(moved.map(({ id }) => integer(id)))
  return ids.filter((id) => !free.has(id))
}
