/** Reads and writes the rows of an integration that moves. Source: docs/decisions/cells.md. @module */
import type { MoveStore, MoveTransaction, UnnotifiedVersion } from '@payment-integration/core/ports'
import type { Connection, Engine, SqlDialect } from '../engine.js'
import { lowestReplayable } from '../history/segments.js'
import { hexBytes, hexOf } from '../internal/hex.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { paymentsOf, paymentsUnder } from './read-payments.js'
import { putUpdates, updatesOf } from './updates.js'
import { notifyOf, replacePayments } from './write-payments.js'

/** Ids of payments that one page looks at, whether or not they name the integration. */
const pageSize = 500

/** Builds it. */
export function createMoveStore(engine: Engine): MoveStore {
  const { read, dialect, transaction } = engine
  return {
    async *payments(address) {
      for await (const range of idRanges(read)) {
        const found = await transaction((db) => paymentsOf(db, dialect, address, range))
        if (found.length > 0)
          yield found.map(({ id: _id, integrationAddress: _address, closed: _closed, ...moved }) => moved)
      }
    },
    updates: (address) => updatesOf(read, address),
    async *unnotified(address) {
      const lowest = await transaction((db) => lowestReplayable(db, dialect))
      for await (const range of idRanges(read)) {
        const found = await unnotifiedIn(read, address, { ...range, lowest })
        if (found.length > 0) yield found
      }
    },
    async leased(address) {
      const row = await read
        .selectFrom('outbox')
        .select(({ fn }) => fn.countAll<Integer>().as('leased'))
        .where('lane', 'in', [0, 1, 2])
        .where('integration', '=', hexBytes(address))
        .where('claim_token', 'is not', null)
        .where('due_at', '>', dialect.now())
        .executeTakeFirstOrThrow()
      return integer(row.leased)
    },
    async runningWriters() {
      const { next } = await runningTransactions(read, dialect)
      return async () => BigInt((await runningTransactions(read, dialect)).oldest) >= BigInt(next)
    },
    transaction: (work) => transaction((db) => work(moveTransaction(db, dialect))),
  }
}

function moveTransaction(db: Connection, dialect: SqlDialect): MoveTransaction {
  return {
    find: (keys) => paymentsUnder(db, dialect, keys),
    replace: (address, payments) => replacePayments(db, dialect, address, payments),
    putUpdates: (address, updates) => putUpdates(db, dialect, address, updates),
    notify: (address, snapshotIds) => notifyOf(db, dialect, address, snapshotIds),
  }
}

/** Ranges of the ids of all payments: pages by integration would sort all of its payments for each page. */
async function* idRanges(read: Connection): AsyncGenerator<{ readonly after: number; readonly upTo: number }> {
  const { last } = await read
    .selectFrom('payments')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  for (let after = 0; after < integer(last ?? 0); after += pageSize) yield { after, upTo: after + pageSize }
}

async function unnotifiedIn(
  read: Connection,
  address: string,
  range: { readonly after: number; readonly upTo: number; readonly lowest: number },
): Promise<UnnotifiedVersion[]> {
  const rows = await read
    .selectFrom('payments as p')
    .innerJoin('snapshots as s', 's.payment_id', 'p.id')
    .select(['s.id', 's.version', 'p.chain_id', 'p.tx_hash', 'p.ordinal'])
    .where('p.id', '>', range.after)
    .where('p.id', '<=', range.upTo)
    .where('p.integration', '=', hexBytes(address))
    .where('p.is_primary', '=', 1)
    .where('s.integration', 'is', null)
    .where('s.id', '>=', range.lowest)
    .orderBy('s.id')
    .execute()
  return rows.map((row) => ({
    id: String(row.id),
    version: integer(row.version),
    chainId: integer(row.chain_id),
    txHash: hexOf(row.tx_hash),
    ordinal: integer(row.ordinal),
  }))
}

/** The number of the next transaction that writes, and of the oldest that runs. */
async function runningTransactions(read: Connection, dialect: SqlDialect): Promise<{ next: string; oldest: string }> {
  const [row] = await run<{ next: string; oldest: string }>(read, dialect, () => dialect.runningTransactions)
  if (row === undefined) throw new TypeError('The statement of running transactions returned no row.')
  return row
}
