/** Reads of payments: index searches only, whatever the depth of a page. Source: INTERFACE 4.1. @module */
import type { PagePosition, PageQuery, PaymentReads, SingleQuery } from '@payment-integration/core/ports'
import { type RawBuilder, sql } from 'kysely'
import { readCheckpoint } from '../checkpoints.js'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { bytes } from '../internal/values.js'
import { storedPayment } from './payment-row.js'
import { createStateReads } from './state-reads.js'

/** Area (a) reads and those of the poller, on a connection that sees committed rows only. */
export function createPaymentReads(db: Connection): PaymentReads {
  return {
    async list(query) {
      return (await pageQuery(db, query).execute()).map(storedPayment)
    },
    async findByHash(query) {
      return (await hashQuery(db, query).execute()).map(storedPayment)
    },
    ...createStateReads(db),
    async checkpoint(chainId) {
      return readCheckpoint(db, checkInteger(chainId, 'chainId'))
    },
    async snapshot(paymentId, version) {
      const row = await db
        .selectFrom('snapshots')
        .select('body')
        .where('payment_id', '=', parseId(paymentId, 'paymentId'))
        .where('version', '=', checkInteger(version, 'version'))
        .executeTakeFirst()
      return row === undefined ? null : bytes(row.body)
    },
  }
}

// The literal lets both planners see that the partial indexes apply.
const primary = sql<boolean>`is_primary = 1`

/** One page. With a wallet: each side's newest keys from its own index, cut to the limit, then the rows of the newest. */
export function pageQuery(db: Connection, query: PageQuery) {
  const limit = checkInteger(query.limit, 'limit', 1)
  const { wallet, after } = query
  if (wallet === undefined) {
    const newest = ofIntegration(db, query)
      .selectAll()
      .orderBy('block_timestamp', 'desc')
      .orderBy('chain_id', 'desc')
      .orderBy('tx_hash', 'desc')
      .limit(limit)
    return after === undefined ? newest : newest.where(before(after))
  }
  const side = (column: 'sender' | 'receiver') =>
    db.selectFrom(sideKeys(db, query, column, wallet).as(column)).select(keyColumns)
  const keys = db
    .selectFrom(side('sender').union(side('receiver')).as('sides'))
    .select('id')
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(limit)
  return db
    .selectFrom(keys.as('keys'))
    .innerJoin('payments', 'payments.id', 'keys.id')
    .selectAll('payments')
    .orderBy('payments.block_timestamp', 'desc')
    .orderBy('payments.chain_id', 'desc')
    .orderBy('payments.tx_hash', 'desc')
}

const keyColumns = ['id', 'block_timestamp', 'chain_id', 'tx_hash'] as const

function ofIntegration(db: Connection, { integrationAddress }: PageQuery) {
  return db.selectFrom('payments').where('integration', '=', integrationAddress).where(primary)
}

// The wallet is given as a range of one value and leads the order: no index but that of its side fits. With `=`,
// PostgreSQL may walk all payments of the integration instead, past any number of other wallets' rows.
function sideKeys(db: Connection, query: PageQuery, column: 'sender' | 'receiver', wallet: string) {
  const { after, limit } = query
  const keys = ofIntegration(db, query)
    .select(keyColumns)
    .where(column, '>=', wallet)
    .orderBy(column, 'desc')
    .orderBy('block_timestamp', 'desc')
    .orderBy('chain_id', 'desc')
    .orderBy('tx_hash', 'desc')
    .limit(limit)
  return after === undefined ? keys.where(column, '<=', wallet) : keys.where(before(after, { column, wallet }))
}

function before(position: PagePosition, side?: { column: string; wallet: string }): RawBuilder<boolean> {
  const { blockTimestamp, chainId, txHash } = position
  const [column, value] = side === undefined ? [sql``, sql``] : [sql`${sql.ref(side.column)}, `, sql`${side.wallet}, `]
  return sql<boolean>`(${column}block_timestamp, chain_id, tx_hash) < (${value}${blockTimestamp}, ${chainId}, ${txHash})`
}

/** At most two: the second only says that the hash is ambiguous. */
export function hashQuery(db: Connection, { integrationAddress, txHash, wallet }: SingleQuery) {
  return db
    .selectFrom('payments')
    .selectAll()
    .where('tx_hash', '=', txHash)
    .where('integration', '=', integrationAddress)
    .where(primary)
    .$if(wallet !== undefined, (query) =>
      query.where(({ eb, or }) => or([eb('sender', '=', wallet ?? ''), eb('receiver', '=', wallet ?? '')])),
    )
    .orderBy('chain_id')
    .limit(2)
}
