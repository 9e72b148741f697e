/** The due deliveries of a claim. @module */
import { scanName } from '../deliveries/skip-scan.js'
import type { DueQuery, DueScan, Lane, Parameter, SqlDialect } from '../engine.js'
import { keyBytes } from '../internal/hex.js'

/**
 * The text for PostgreSQL; see `SqlDialect.due`. Limit and order keep the search of each integration and lane apart and
 * in the index.
 *
 * @param left - A condition on `q.id`, beginning with `and`, that leaves out deliveries.
 */
export function dueText(
  name: SqlDialect['name'],
  query: DueQuery,
  now: string,
  left: string,
  parameter: Parameter,
): string {
  const { scans, probes, integrations, each } = query
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
  }: DueScan) => `select d.id, d.due_at, i.address as integration, ${lane} as lane, 0 as probe, i.notification_url
    from (
      select i.address, i.notification_url from ${scanName(lane)} w cross join lateral (
        select i.address, i.notification_url from ${name('integrations')} i
        where i.address = w.integration and ${mayBeNotified} ${lane === 2 ? '' : notBlocked}
          ${hasOthers(lane)} limit 1
      ) i
      where w.integration <= ${parameter(keyBytes(upTo))} and w.due_at <= ${now}
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
  const parts = [...scans.map(found), ...(probes ? [probe()] : [])]
  const tables = scans.map((scan) => dueScanText(name('outbox'), scan, parameter))
  return `with recursive ${tables.join(', ')} ${parts.map((part) => `(${part})`).join(' union all ')}`
}

/**
 * A skip scan over the integrations, with the first due time of each. The same search reads both, as it may pass many
 * dead index entries of deliveries that were claimed since the last vacuum.
 */
function dueScanText(outbox: string, { lane, after, upTo }: DueScan, parameter: Parameter): string {
  const next = (than: string) => `(select d.integration, d.due_at from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration, d.due_at limit 1)`
  return `${scanName(lane)} (integration, due_at) as (
    ${next(parameter(keyBytes(after)))} union all
    select n.integration, n.due_at from ${scanName(lane)} w cross join lateral ${next('w.integration')} n
    where w.integration < ${parameter(keyBytes(upTo))}
  )`
}
