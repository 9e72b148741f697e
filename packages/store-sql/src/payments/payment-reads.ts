/** Reads of payments: index searches only. Source: docs/interface.md 4.1, 4.3. @module */
import type { PaymentReads } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { readCheckpoint } from '../chains/checkpoints.js'
import type { Connection, Engine } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { keyBytes, nullableHexOf } from '../internal/hex.js'
import { prepare, type ValueOf } from '../internal/prepare.js'
import { bytes, nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { snapshotBytes } from '../snapshot-row.js'
import { maxVersion } from '../snapshots.js'
import { paymentColumns, type StoredRow, storedPayment } from './payment-row.js'
import { createReadPage } from './read-page.js'
import { createUnsettledReads } from './unsettled.js'

/** All reads of payments, on a connection that sees committed rows only. */
export function createPaymentReads(engine: Pick<Engine, 'read' | 'rows' | 'dialect'>): PaymentReads {
  const { read: db } = engine
  const byHash = prepare(engine, (value: ValueOf<HashValues>) => hashQuery(db, value))
  const byHashOfWallet = prepare(engine, (value: ValueOf<HashValues>) => hashQuery(db, value, true))
  const ofTransaction = prepare(engine, (value: ValueOf<TransactionValues>) => transactionQuery(db, value))
  return {
    list: createReadPage(engine),
    async findByHash({ integrationAddress, txHash, wallet }) {
      const values = {
        integration: keyBytes(integrationAddress),
        txHash: keyBytes(txHash),
        wallet: keyBytes(wallet ?? '0x'),
      }
      return (await (wallet === undefined ? byHash : byHashOfWallet)(values)).map(storedPayment)
    },
    async transaction({ chainId, txHash }) {
      const rows = await ofTransaction({ chainId: checkInteger(chainId, 'chainId'), txHash: keyBytes(txHash) })
      const payments = rows.flatMap((row) => (row.id === null ? [] : storedPayment(row)))
      return { payments, indexedTo: nullableInteger(rows[0]?.beside ?? null) }
    },
    ...createUnsettledReads(db),
    async checkpoint(chainId) {
      return readCheckpoint(db, checkInteger(chainId, 'chainId'))
    },
    async snapshot(paymentId, version) {
      const id = parseId(paymentId, 'paymentId')
      // PostgreSQL rejects a larger number for this column.
      if (checkInteger(version, 'version') > maxVersion) return null
      const row = await db
        .selectFrom('snapshots as s')
        .innerJoin('payments as p', 'p.id', 's.payment_id')
        .select(['s.body', 's.version', 'p.integration', 'p.chain_id', 'p.tx_hash'])
        .where('s.payment_id', '=', id)
        .where('s.version', '=', version)
        .executeTakeFirst()
      if (row === undefined) return null
      return snapshotBytes(bytes(row.body), nullableHexOf(row.integration), row)
    },
  }
}

/** The values of a look-up by hash. */
export interface HashValues {
  readonly integration: Uint8Array
  readonly txHash: Uint8Array
  readonly wallet: Uint8Array
}

/** At most two payments: the second only shows that the hash is ambiguous. */
export function hashQuery(db: Connection, value: ValueOf<HashValues>, ofWallet = false) {
  return (
    db
      .selectFrom('payments')
      .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
      .select(paymentColumns)
      .select(sql<null>`null`.as('beside'))
      .where('tx_hash', '=', value('txHash'))
      .where('integration', '=', value('integration'))
      // A plan that was made for an empty table may use a partial index, whose rows are those of an integration.
      .where(sql<boolean>`coalesce(is_primary, 0) = 1`)
      .$if(ofWallet, (query) =>
        query.where(({ eb, or }) => or([eb('sender', '=', value('wallet')), eb('receiver', '=', value('wallet'))])),
      )
      .orderBy('chain_id')
      .limit(sql.lit(2))
  )
}

/** The values of a look-up by transaction. */
export interface TransactionValues {
  readonly chainId: number
  readonly txHash: Uint8Array
}

type TransactionRow = { beside: Integer | null } & (StoredRow | { id: null })

/** At least one row, with the chain's height; the other columns are null if the transaction is not stored. */
export function transactionQuery(db: Connection, value: ValueOf<TransactionValues>) {
  return db
    .selectFrom(
      db
        .selectNoFrom(({ selectFrom }) =>
          selectFrom('checkpoints')
            .select(sql<Integer>`case when reached > block_number then reached else block_number end`.as('height'))
            .where('chain_id', '=', value('chainId'))
            .orderBy('block_number', 'desc')
            .limit(sql.lit(1))
            .as('beside'),
        )
        .as('chain'),
    )
    .leftJoin('payments', (join) =>
      join.on('payments.chain_id', '=', value('chainId')).on('payments.tx_hash', '=', value('txHash')),
    )
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .select('chain.beside')
    .orderBy('payments.ordinal')
    .$castTo<TransactionRow>()
}
