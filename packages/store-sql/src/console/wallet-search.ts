/** Finds payments of a wallet across integrations, newest first. Source: the port ConsoleReads. @module */
import type { PagePosition, PaymentReads, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { hexOf, keyBytes } from '../internal/hex.js'
import { nullableInteger } from '../internal/values.js'

/** Integrations whose pages are read at once. */
const atOnce = 4
/** Payments of a page. */
const pageSize = 10

/** Payments of one integration that are not read yet. */
interface Rest {
  readonly integrationAddress: string
  /** Block time of the newest. */
  readonly newest: number
  readonly after?: PagePosition | undefined
}

/**
 * The newest payments of a wallet among so many integrations. Integrations whose payments are newest are read first,
 * in small pages, until the others only have older ones.
 */
export async function paymentsOfWallet(
  db: Connection,
  readPage: PaymentReads['list'],
  query: { readonly wallet: string; readonly integrations: number; readonly limit: number },
): Promise<StoredPayment[]> {
  const { wallet, limit } = query
  const rows = await walletQuery(db, wallet, query.integrations).execute()
  let rests = rows.flatMap(({ address, sent, received }): Rest[] => {
    const newest = Math.max(nullableInteger(sent) ?? -1, nullableInteger(received) ?? -1)
    return newest < 0 ? [] : [{ integrationAddress: hexOf(address), newest }]
  })
  let found: StoredPayment[] = []
  for (;;) {
    const oldest = found[limit - 1]?.blockTimestamp ?? -1
    rests = rests.filter(({ newest }) => newest >= oldest).sort((a, b) => b.newest - a.newest)
    const part = rests.splice(0, atOnce)
    if (part.length === 0) return found
    const pages = await Promise.all(
      part.map(({ integrationAddress, after }) => readPage({ wallet, integrationAddress, after, limit: pageSize })),
    )
    for (const [index, { next }] of pages.entries()) {
      const { integrationAddress = '' } = part[index] ?? {}
      if (next !== null) rests.push({ integrationAddress, newest: next.blockTimestamp, after: next })
    }
    found = [...found, ...pages.flatMap(({ payments }) => payments)]
      .sort((a, b) => b.blockTimestamp - a.blockTimestamp)
      .slice(0, limit)
  }
}

/** Each integration with the time of the wallet's newest payment on either side. */
export function walletQuery(db: Connection, address: string, integrations: number) {
  const wallet = keyBytes(address)
  // The wallet is a range of one value and leads the order, so that only the index of its side fits.
  const newest = (side: 'sender' | 'receiver') =>
    db
      .selectFrom('payments as p')
      .select('p.block_timestamp')
      .where('p.integration', '=', sql.ref<Uint8Array>('i.address'))
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
