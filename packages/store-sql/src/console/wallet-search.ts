/** Finds payments of a wallet across integrations, newest first. Source: the port ConsoleReads. @module */
import type { PaymentReads, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { nullableInteger } from '../internal/values.js'

/** Integrations whose pages are read at once. */
const atOnce = 4

/**
 * The newest payments of a wallet among so many integrations. Integrations with its newest payments are read first, and
 * the rest is left out once it can only have older ones.
 */
export async function paymentsOfWallet(
  db: Connection,
  readPage: PaymentReads['list'],
  query: { readonly wallet: string; readonly integrations: number; readonly limit: number },
): Promise<StoredPayment[]> {
  const { wallet, limit } = query
  const rows = await walletQuery(db, wallet, query.integrations).execute()
  const waiting = rows
    .map(({ address, sent, received }) => ({
      address,
      newest: Math.max(nullableInteger(sent) ?? -1, nullableInteger(received) ?? -1),
    }))
    .filter(({ newest }) => newest >= 0)
    .sort((a, b) => b.newest - a.newest)
  let found: StoredPayment[] = []
  while (waiting.length > 0) {
    const oldest = found[limit - 1]
    if (oldest !== undefined && oldest.blockTimestamp > (waiting[0]?.newest ?? 0)) break
    const part = waiting.splice(0, atOnce)
    const pages = await Promise.all(
      part.map(({ address }) => readPage({ wallet, integrationAddress: address, limit })),
    )
    found = [...found, ...pages.flatMap(({ payments }) => payments)]
      .sort((a, b) => b.blockTimestamp - a.blockTimestamp)
      .slice(0, limit)
  }
  return found
}

/** Each integration with the time of the wallet's newest payment on either side. */
export function walletQuery(db: Connection, wallet: string, integrations: number) {
  // The wallet is a range of one value and leads the order, so that only the index of its side fits.
  const newest = (side: 'sender' | 'receiver') =>
    db
      .selectFrom('payments as p')
      .select('p.block_timestamp')
      .where(sql<boolean>`p.integration = i.address`)
      .where(sql<boolean>`p.is_primary = 1`)
      .where(`p.${side}`, '>=', wallet)
      .where(`p.${side}`, '<=', wallet)
      .orderBy(`p.${side}`, 'desc')
      .orderBy('p.block_timestamp', 'desc')
      .limit(1)
  return db
    .selectFrom('integrations as i')
    .select(['i.address', newest('sender').as('sent'), newest('receiver').as('received')])
    .orderBy('i.address')
    .limit(integrations)
}
