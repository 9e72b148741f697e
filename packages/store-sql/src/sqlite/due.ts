/** The due deliveries of a claim. @module */
import { scanName, scanText } from '../deliveries/skip-scan.js'
import type { DueQuery, DueScan, Lane, Parameter } from '../engine.js'
import { keyBytes } from '../internal/hex.js'

/**
 * The text for SQLite; see `SqlDialect.due`. CROSS JOIN keeps the order of the loops: a skip scan over
 * the integrations, and for each one limited search of the index.
 * @param left - A condition on `q.id`, beginning with `and`, that leaves out deliveries.
 */
export function dueText(query: DueQuery, now: string, left: string, parameter: Parameter): string {
  const { scans, probes, integrations, each } = query
  const most = parameter(integrations)
  const ofEach = parameter(each)
  const mayBeNotified = 'i.enabled = 1 and i.notification_url is not null'
  const due = (lane: Lane, integration: string) => `from outbox q
    where q.lane = ${lane} and q.integration = ${integration} and q.due_at <= ${now} ${left}`
  const oldest = (lane: Lane, limit: string) =>
    `select q.id ${due(lane, 'i.address')} order by q.due_at, q.id limit ${limit}`
  const found = ({
    lane,
    upTo,
  }: DueScan) => `select d.id, d.due_at, w.address as integration, ${lane} as lane, 0 as probe, w.notification_url
    from (
      select i.address, i.notification_url from ${scanName(lane)} w cross join integrations i
      where w.integration <= ${parameter(keyBytes(upTo))} and i.address = w.integration and ${mayBeNotified}
        ${lane === 2 ? '' : notBlocked} and exists (select 1 ${due(lane, 'i.address')})
      limit ${most}
    ) w cross join outbox d
    where d.id in (${oldest(lane, ofEach).replaceAll('i.address', 'w.address')})`
  // One index search tells whether an integration that failed for good has anything left to probe with.
  const probe = (
    lane: Lane,
  ) => `select d.id, d.due_at, i.address as integration, 1 as lane, 1 as probe, i.notification_url
    from (
      select i.address, i.notification_url from endpoints e cross join integrations i
      where e.blocks > 0 and e.blocked_until <= ${now} and i.address = e.integration and ${mayBeNotified}
        and exists (select 1 ${due(lane, 'i.address')})
      order by e.blocked_until limit ${most}
    ) i cross join outbox d
    where d.id = (${oldest(lane, '1')})`
  const parts = [...scans.map(found), ...(probes ? [probe(0), probe(1)] : [])]
  const tables = scans.map((scan) => scanText('outbox', scan, parameter))
  return `with recursive ${tables.join(', ')} ${parts.join(' union all ')}`
}

const notBlocked = 'and not exists (select 1 from endpoints e where e.integration = i.address and e.blocks > 0)'
