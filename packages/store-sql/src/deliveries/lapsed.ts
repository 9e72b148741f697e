/** Deliveries whose claim was lost: its lease ended, and nobody settled it. Source: DESIGN section 3 (retries). @module */
import type { Connection, Differences } from '../engine.js'
import { runKept } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Candidate } from './candidate.js'
import type { Moment } from './candidates.js'

/** Most that one statement moves: many lapse at once where a process dies that held many. */
const mostMoved = 1_000

/**
 * Moves them, and what else lapsed of the same integrations, out of the lane of first attempts, due since the end of the lease. The token stays: until somebody
 * claims them again a late answer counts.
 * @param lapsed - Those that were found.
 * @returns The ids of those that were found and are held by somebody else at this moment.
 */
export async function moveLapsed(
  db: Connection,
  differences: Differences,
  lapsed: readonly Candidate[],
  moment: Moment,
): Promise<readonly number[]> {
  const { name, skipLocked } = differences
  const moved = new Set<number>()
  const queues = new Map(lapsed.map((candidate) => [`${candidate.lane} ${candidate.integration}`, candidate]))
  for (const { lane, integration } of queues.values()) {
    const rows = await runKept<{ id: Integer }>(db, differences, (parameter) => {
      const now = moment(parameter)
      return `update ${name('deliveries')} set lane = case lane when 2 then 2 else 1 end, due_at = leased_until, leased_until = null
        where id in (
          select d.id from ${name('deliveries')} d where d.status = 'pending' and d.lane = ${parameter(lane)}
            and d.integration = ${parameter(integration)} and d.due_at <= ${now} and d.leased_until <= ${now}
          order by d.due_at, d.id limit ${mostMoved}${skipLocked('d')}
        ) returning id`
    })
    for (const { id } of rows) moved.add(integer(id))
  }
  return lapsed.flatMap(({ id }) => (moved.has(id) ? [] : [id]))
}
