/** The due deliveries of a claim. @module */
import type { Differences, DueQuery, Parameter } from '../engine.js'

/**
 * The text for PostgreSQL; see `Differences.due`. Limit and order keep the search of each integration and lane apart and in the index.
 * @param left - A condition on `q.id`, beginning with `and`, for what is left out.
 */
export function dueText(
  name: Differences['name'],
  { lanes, each, limit }: DueQuery,
  now: string,
  left: string,
  add: Parameter,
): string {
  const values = lanes.map((lane) => `(${lane}::bigint)`).join(', ')
  return `select d.id, d.due_at, i.address as integration, l.lane,
      case when l.lane < 2 and i.blocks > 0 then 1 else 0 end as probe
    from (
      select o.address, coalesce(e.blocks, 0) as blocks, e.blocked_until
      from ${name('integrations')} o left join ${name('endpoints')} e on e.integration = o.address
      where o.enabled = 1 and o.notification_url is not null
    ) i cross join (values ${values}) l (lane) cross join lateral (
      select q.id, q.due_at from ${name('deliveries')} q
      where q.status = 'pending' and q.integration = i.address and q.lane = l.lane and q.due_at <= ${now} ${left}
      order by q.due_at, q.id
      limit case when l.lane = 2 or i.blocks = 0 then ${add(each)}::bigint when i.blocked_until <= ${now} then 1 else 0 end
    ) d
    order by l.lane, d.due_at, d.id limit ${add(limit)}`
}
