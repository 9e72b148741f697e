/** Finds versions by their time without an index by time. @module */
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { RangeFilter } from './filter.js'

/** The lowest id of a version created at a time or later, or the next one. Ids rise with the time. */
export async function firstIdAt(db: Connection, time: number): Promise<number> {
  const row = await firstIdQuery(db, checkInteger(time, 'time')).executeTakeFirst()
  return integer(row?.low ?? 1)
}

/**
 * A version may have a lower id than one that was made earlier, if transactions ran at once. Their statements take less
 * than this.
 */
const slackMs = 60_000

/** The filter with a range of ids in which all versions of its times are. */
export async function withIdRange<Filter extends RangeFilter>(db: Connection, filter: Filter): Promise<Filter> {
  const since = checkInteger(filter.since ?? 0, 'since')
  const until = checkInteger(filter.until ?? Number.MAX_SAFE_INTEGER, 'until')
  const [from, to] = [since - slackMs, until + slackMs]
  const after = from <= 0 ? 0 : (await firstIdAt(db, from)) - 1
  const upTo = to > Number.MAX_SAFE_INTEGER ? null : (await firstIdAt(db, to)) - 1
  return {
    ...filter,
    afterId: String(Math.max(after, filter.afterId === undefined ? 0 : parseId(filter.afterId, 'afterId'))),
    ...(upTo === null
      ? {}
      : { upToId: String(Math.min(upTo, filter.upToId === undefined ? upTo : parseId(filter.upToId, 'upToId'))) }),
  }
}

/** The statement of {@link firstIdAt}: a bisection within the database, as each step from outside is a round trip. */
export function firstIdQuery(db: Connection, time: number) {
  const middle = sql<Integer>`(low + high) / 2`
  const created = sql`(select s.created_at from ${sql.table('snapshots')} as s
    where s.id >= (low + high) / 2 order by s.id limit 1)`
  const isLate = sql<boolean>`coalesce(${created}, ${time}) >= ${time}`
  return db
    .withRecursive('ids(low, high)', (query) =>
      query
        .selectFrom('snapshots')
        .select([sql<Integer>`cast(1 as bigint)`.as('low'), sql<Integer>`coalesce(max(id), 0) + 1`.as('high')])
        .unionAll(
          query
            .selectFrom('ids')
            .select([
              sql<Integer>`case when ${isLate} then low else ${middle} + 1 end`.as('low'),
              sql<Integer>`case when ${isLate} then ${middle} else high end`.as('high'),
            ])
            .where(sql<boolean>`low < high`),
        ),
    )
    .selectFrom('ids')
    .select('low')
    .where(sql<boolean>`low >= high`)
}
