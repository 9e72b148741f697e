/** Finds newer deliveries of a payment. See docs/decisions/retries.md. @module */
import type { SqlDialect } from '../engine.js'

/**
 * A condition: the payment of snapshot `s` has a newer delivery. The order, which `exists` would drop, keeps a plan
 * made for empty tables on the index of versions: by the primary key it would read every newer snapshot.
 */
export function isSuperseded({ name }: SqlDialect): string {
  return `(select n.id from ${name('snapshots')} n
      where n.payment_id = s.payment_id and n.version > s.version and n.id > s.id and n.integration is not null
      order by n.version limit 1) is not null`
}
