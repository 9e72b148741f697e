/** Which deliveries an operator means. @module */
import type { DeliveryFilter } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'

/** A filter with a place in the order of ids. */
export interface PlacedFilter extends DeliveryFilter {
  readonly deliveryId?: string | undefined
  readonly afterId?: string | undefined
  readonly upToId?: string | undefined
}

/**
 * The column that tells the place of what is asked for. What is pending is walked in the outbox: there are few of them behind any number of deliveries, and
 * SQLite does not conclude from the order of one id that of the other.
 */
export const idOf = ({ status }: DeliveryFilter) => (status === 'pending' ? 'q.id' : 'd.id')

/**
 * Deliveries `d` with their payments `p`, and with their rows `q` of the outbox where they are pending, that fit everything given.
 * @throws TypeError For a place that the store never gave out. @throws RangeError For a number that is none.
 */
export function filtered(db: Connection, filter: PlacedFilter) {
  const { integrationAddress, chainId, txHash, status } = filter
  const after = filter.afterId === undefined ? 0 : parseId(filter.afterId, 'afterId')
  const upTo = filter.upToId === undefined ? null : parseId(filter.upToId, 'upToId')
  const id =
    filter.deliveryId === undefined ? null : Number(/^[0-9]{1,15}$/.test(filter.deliveryId) ? filter.deliveryId : 0)
  const since = filter.since === undefined ? null : checkInteger(filter.since, 'since')
  const until = filter.until === undefined ? null : checkInteger(filter.until, 'until')
  const noted = since !== null && since > 0
  return (
    db
      .selectFrom('deliveries as d')
      .leftJoin('outbox as q', 'q.id', 'd.id')
      .innerJoin('payments as p', 'p.id', 'd.payment_id')
      .where(idOf(filter), '>', after)
      .$if(upTo !== null, (rows) => rows.where(idOf(filter), '<=', upTo ?? 0))
      .$if(id !== null, (rows) => rows.where(idOf(filter), '=', id ?? 0))
      // Only primary payments are notified; saying so lets the planners find a hash by its index.
      .$if(txHash !== undefined, (rows) =>
        rows.where('p.tx_hash', '=', txHash ?? '').where(sql<boolean>`p.is_primary = 1`),
      )
      .$if(chainId !== undefined, (rows) => rows.where('p.chain_id', '=', chainId ?? 0))
      .$if(integrationAddress !== undefined, (rows) => rows.where('d.integration', '=', integrationAddress ?? ''))
      .$if(status === 'pending', (rows) => rows.where('q.id', 'is not', null))
      .$if(status === 'delivered', (rows) => rows.where('q.id', 'is', null).where('d.undelivered', 'is', null))
      .$if(status === 'exhausted' || status === 'superseded', (rows) =>
        // Said twice, so that the planners know the index of those alone to hold them all.
        rows.where('d.undelivered', '=', status ?? '').where('d.undelivered', 'is not', null),
      )
      .$if(noted, (rows) => rows.where('d.created_at', '>=', since))
      // One whose time was not noted is older than any.
      .$if(until !== null, (rows) =>
        rows.where((eb) => eb.or([eb('d.created_at', '<', until), eb('d.created_at', 'is', null)])),
      )
  )
}
