/** Selects the due deliveries of a claim in PostgreSQL. @module */
import { walkName } from '../deliveries/walk.js'
import type { DueQuery, DueWalk, Lane, Parameter, SqlDialect } from '../engine.js'

/**
 * The text for PostgreSQL; see `SqlDialect.due`. Limit and order make a separate index search for each integration
 * and lane.
 *
 * @param left - A condition on `q.id`, beginning with `and`, for the ids to leave out.
 */
export function dueText(
  name: SqlDialect['name'],
  query: DueQuery,
  now: string,
  left: string,
  parameter: Parameter,
): string {
  const { walks, probes, integrations, each } = query
  const most = `${parameter(integrations)}::bigint`
  const ofEach = `${parameter(each)}::bigint`
  const mayBeNotified = 'i.enabled = 1 and i.notification_url is not null'
  const due = (lane: Lane) => `from ${name('outbox')} q
    where q.lane = ${lane} and q.integration = i.address and q.due_at <= ${now} ${left}`
  const oldest = (lane: Lane, limit: string) =>
    `select q.id, q.due_at ${due(lane)} order by q.due_at, q.id limit ${limit}`
  const notBlocked = `and not exists (
    select 1 from ${name('endpoints')} e where e.integration = i.address and e.blocks > 0
  )`
  // The scan knows when the first delivery of an integration is due, but not whether it is left out.
  const hasOthers = (lane: Lane) => (left === '' ? '' : `and (select h.id from (${oldest(lane, '1')}) h) is not null`)
  const found = ({
    lane,
    upTo,
  }: DueWalk) => `select d.id, d.due_at, i.address as integration, ${lane} as lane, 0 as probe, i.notification_url
    from (
      select i.address, i.notification_url from ${walkName(lane)} w cross join lateral (
        select i.address, i.notification_url from ${name('integrations')} i
        where i.address = w.integration and ${mayBeNotified} ${lane === 2 ? '' : notBlocked}
          ${hasOthers(lane)} limit 1
      ) i
      where w.integration <= ${parameter(upTo)} and w.due_at <= ${now}
      limit ${most}
    ) i cross join lateral (${oldest(lane, ofEach)}) d`
  const probe = () => `select d.id, d.due_at, d.address as integration, 1 as lane, 1 as probe, d.notification_url
    from (
      select e.integration from ${name('endpoints')} e where e.blocks > 0 and e.blocked_until <= ${now}
      order by e.blocked_until
    ) e cross join lateral (
      select i.address, i.notification_url, h.id, h.due_at from ${name('integrations')} i
        cross join lateral ((${oldest(0, '1')}) union all (${oldest(1, '1')})) h
      where i.address = e.integration and ${mayBeNotified} order by h.due_at, h.id limit 1
    ) d limit ${most}`
  const parts = [...walks.map(found), ...(probes ? [probe()] : [])]
  const ways = walks.map((walk) => dueWalkText(name('outbox'), walk, parameter))
  return `with recursive ${ways.join(', ')} ${parts.map((part) => `(${part})`).join(' union all ')}`
}

/**
 * Scans from integration to integration, with the due time of the first delivery of each. The index has dead entries of
 * earlier claims before the first live one, until the next vacuum. One search passes them for both values.
 */
function dueWalkText(outbox: string, { lane, after, upTo }: DueWalk, parameter: Parameter): string {
  const next = (than: string) => `(select d.integration, d.due_at from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration, d.due_at limit 1)`
  return `${walkName(lane)} (integration, due_at) as (
    ${next(parameter(after))} union all
    select n.integration, n.due_at from ${walkName(lane)} w cross join lateral ${next('w.integration')} n
    where w.integration < ${parameter(upTo)}
  )`
}
