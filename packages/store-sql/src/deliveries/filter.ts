/** The SQL of a delivery filter. @module */
import type { DeliveryFilter } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { keyBytes } from '../internal/hex.js'
import { isDelivered } from './missing.js'

/** A filter with a range of ids. */
export interface RangeFilter extends DeliveryFilter {
  readonly deliveryId?: string | undefined
  readonly afterId?: string | undefined
  readonly upToId?: string | undefined
}

/**
 * The id column that orders the listing. Pending deliveries are few, so they are read in the order of the outbox;
 * SQLite does not infer that both ids are equal.
 */
export const idOf = ({ status }: DeliveryFilter) => (status === 'pending' ? 'q.id' : 'd.id')

/**
 * Matching deliveries `d` with their payments `p`, and their outbox rows `q` while pending. A delivery is a snapshot
 * that an integration is notified of.
 * @throws TypeError For a malformed id. @throws RangeError For a number out of range.
 */
export function filtered(db: Connection, filter: RangeFilter) {
  const { integrationAddress, chainId, txHash, status } = filter
  const after = filter.afterId === undefined ? 0 : parseId(filter.afterId, 'afterId')
  const upTo = filter.upToId === undefined ? null : parseId(filter.upToId, 'upToId')
  const id =
    filter.deliveryId === undefined ? null : Number(/^[0-9]{1,15}$/.test(filter.deliveryId) ? filter.deliveryId : 0)
  const since = filter.since === undefined ? null : checkInteger(filter.since, 'since')
  const until = filter.until === undefined ? null : checkInteger(filter.until, 'until')
  const hasSince = since !== null && since > 0
  return (
    db
      .selectFrom('snapshots as d')
      .leftJoin('outbox as q', 'q.id', 'd.id')
      .innerJoin('payments as p', 'p.id', 'd.payment_id')
      // Outbox rows have an integration: the condition would lead SQLite to begin with the snapshots.
      .$if(status !== 'pending', (rows) => rows.where('d.integration', 'is not', null))
      .where(idOf(filter), '>', after)
      .$if(upTo !== null, (rows) => rows.where(idOf(filter), '<=', upTo ?? 0))
      .$if(id !== null, (rows) => rows.where(idOf(filter), '=', id ?? 0))
      // Only primary payments are notified; the condition lets planners use the index of hashes.
      .$if(txHash !== undefined, (rows) =>
        rows.where('p.tx_hash', '=', keyBytes(txHash ?? '0x')).where(sql<boolean>`p.is_primary = 1`),
      )
      .$if(chainId !== undefined, (rows) => rows.where('p.chain_id', '=', chainId ?? 0))
      .$if(integrationAddress !== undefined, (rows) =>
        rows.where('d.integration', '=', keyBytes(integrationAddress ?? '')),
      )
      .$if(status === 'pending', (rows) => rows.where('q.id', 'is not', null))
      .$if(status === 'delivered' || status === 'missing', (rows) =>
        rows
          .where('q.id', 'is', null)
          .where('d.undelivered', 'is', null)
          .where(status === 'delivered' ? isDelivered('d.id') : sql<boolean>`not ${isDelivered('d.id')}`),
      )
      .$if(status === 'exhausted' || status === 'superseded', (rows) =>
        // `is not null` lets planners use the partial index of undelivered deliveries.
        rows.where('d.undelivered', '=', status ?? '').where('d.undelivered', 'is not', null),
      )
      .$if(hasSince, (rows) => rows.where('d.created_at', '>=', since ?? 0))
      .$if(until !== null, (rows) => rows.where('d.created_at', '<', until ?? 0))
  )
}
