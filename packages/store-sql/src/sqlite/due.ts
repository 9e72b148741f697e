/** The due deliveries of a claim. @module */
import type { DueQuery, Lane, Parameter } from '../engine.js'

/**
 * The text for SQLite; see `Differences.due`. CROSS JOIN keeps the order of the loops: per integration and lane one search of the
 * index, cut to its limit.
 * @param left - A condition on `q.id`, beginning with `and`, for what is left out.
 */
export function dueText({ lanes, each, limit }: DueQuery, now: string, left: string, add: Parameter): string {
  const mayBeNotified = 'i.enabled = 1 and i.notification_url is not null'
  const oldest = (lane: Lane, most: string) => `select q.id from deliveries q
    where q.status = 'pending' and q.integration = i.address and q.lane = ${lane} and q.due_at <= ${now} ${left}
    order by q.due_at, q.id limit ${most}`
  const most = add(limit)
  const ofEach = add(each)
  const open = (lane: Lane) => `select * from (
    select d.id, d.due_at, d.integration, ${lane} as lane, 0 as probe from integrations i cross join deliveries d
    where ${mayBeNotified} ${lane === 2 ? '' : notBlocked} and d.id in (${oldest(lane, ofEach)})
    order by d.due_at, d.id limit ${most})`
  // One of each endpoint: few enough to go without an order of their own.
  const probes = (lane: Lane) => `select d.id, d.due_at, d.integration, ${lane} as lane, 1 as probe
    from endpoints e cross join integrations i cross join deliveries d
    where e.blocks > 0 and e.blocked_until <= ${now} and i.address = e.integration and ${mayBeNotified}
      and d.id = (${oldest(lane, '1')})`
  return lanes.flatMap((lane) => (lane === 2 ? [open(lane)] : [open(lane), probes(lane)])).join(' union all ')
}

const notBlocked = 'and not exists (select 1 from endpoints e where e.integration = i.address and e.blocks > 0)'
