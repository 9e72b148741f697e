/** Reads payments of any integration, and lists those without a final state. Source: docs/interface.md 4.3. @module */
import type { PaymentReads } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { readCheckpoint } from '../chains/checkpoints.js'
import type { Connection, Engine } from '../engine.js'
import { listColumns, prepare, runBulk, type ValueOf } from '../internal/statements.js'
import { checkInteger, parseId, parseKey, toNullableHex, toNullableNumber, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'
import { createReadPage, type HashValues, selectByHashOfIntegration } from './integration-payments.js'
import { paymentColumns, type StoredRow, toStoredPayment, type WithExtra } from './payment-row.js'
import { maxVersion, toSnapshotBytes } from './snapshots.js'

const keyColumns = listColumns({ chain_id: 'integer', payment_id: 'integer' })
const toValues = (keys: readonly Tables['unsettled'][]) =>
  keys.map(({ chain_id, payment_id }) => [toNumber(chain_id), toNumber(payment_id)])

export async function insertUnsettled(db: Connection, inserted: readonly StoredPayment[]): Promise<void> {
  const rows = inserted.flatMap(({ id, chainId, primary }) => (primary ? [[chainId, Number(id)]] : []))
  await db.dialect.insertAll(db, { table: 'unsettled', columns: keyColumns, rows })
}

export async function addUnsettled(db: Connection, keys: readonly Tables['unsettled'][]): Promise<void> {
  const text = () =>
    `insert into ${db.dialect.name('unsettled')} (chain_id, payment_id) select chain_id, payment_id from v where true
     on conflict (chain_id, payment_id) do nothing`
  await runBulk(db, keyColumns, toValues(keys), text)
}

export async function removeUnsettled(db: Connection, keys: readonly Tables['unsettled'][]): Promise<void> {
  const text = () =>
    `delete from ${db.dialect.name('unsettled')} where (chain_id, payment_id) in (select chain_id, payment_id from v)`
  await runBulk(db, keyColumns, toValues(keys), text)
}

export function nextChainQuery(db: Connection, after: number) {
  return db.selectFrom('unsettled').select('chain_id').where('chain_id', '>', after).orderBy('chain_id').limit(1)
}

export function unsettledQuery(
  db: Connection,
  query: { readonly chainId: number; readonly afterId: number; readonly limit: number },
) {
  const keys = db
    .selectFrom('unsettled')
    .select('payment_id')
    .where('chain_id', '=', query.chainId)
    .where('payment_id', '>', query.afterId)
    .orderBy('payment_id')
    .limit(query.limit)
  return db
    .selectFrom(keys.as('keys'))
    .innerJoin('payments', 'payments.id', 'keys.payment_id')
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .orderBy('keys.payment_id')
}

export function createPaymentReads(engine: Pick<Engine, 'read' | 'rows'>): PaymentReads {
  const { read: db } = engine
  const readByHash = prepare(engine, (value: ValueOf<HashValues>) => selectByHashOfIntegration(db, value))
  const readByHashOfWallet = prepare(engine, (value: ValueOf<HashValues>) => selectByHashOfIntegration(db, value, true))
  const readTransaction = prepare(engine, (value: ValueOf<TransactionValues>) => transactionQuery(db, value))
  return {
    list: createReadPage(engine),
    async findByHash({ integrationAddress, txHash, wallet }) {
      const values = {
        integration: parseKey(integrationAddress),
        txHash: parseKey(txHash),
        wallet: parseKey(wallet ?? '0x'),
      }
      return (await (wallet === undefined ? readByHash : readByHashOfWallet)(values)).map(toStoredPayment)
    },
    async transaction({ chainId, txHash }) {
      const rows = await readTransaction({ chainId: checkInteger(chainId, 'chainId'), txHash: parseKey(txHash) })
      const payments = rows.flatMap((row) => (row.id === null ? [] : toStoredPayment(row)))
      return { payments, indexedTo: toNullableNumber(rows[0]?.extra ?? null) }
    },
    async unsettledChains() {
      const chainIds: number[] = []
      for (;;) {
        const next = await nextChainQuery(db, chainIds.at(-1) ?? -1).executeTakeFirst()
        if (next === undefined) return chainIds
        chainIds.push(toNumber(next.chain_id))
      }
    },
    async listUnsettled({ chainId, afterId, limit }) {
      const rows = await unsettledQuery(db, {
        chainId: checkInteger(chainId, 'chainId'),
        afterId: afterId === undefined ? 0 : parseId(afterId, 'afterId'),
        limit: checkInteger(limit, 'limit', 1),
      }).execute()
      return rows.map(toStoredPayment)
    },
    checkpoint: async (chainId) => readCheckpoint(db, checkInteger(chainId, 'chainId')),
    async snapshot(paymentId, version) {
      const id = parseId(paymentId, 'paymentId')
      // A larger number does not fit the column, so PostgreSQL rejects it.
      if (checkInteger(version, 'version') > maxVersion) return null
      const row = await db
        .selectFrom('snapshots as s')
        .innerJoin('payments as p', 'p.id', 's.payment_id')
        .select(['s.body', 's.version', 'p.integration', 'p.chain_id', 'p.tx_hash'])
        .where('s.payment_id', '=', id)
        .where('s.version', '=', version)
        .executeTakeFirst()
      if (row === undefined) return null
      return toSnapshotBytes(db.dialect.toBytes(row.body), toNullableHex(row.integration), row)
    },
  }
}

interface TransactionValues {
  readonly chainId: number
  readonly txHash: Uint8Array
}

type TransactionRow = WithExtra<StoredRow | { id: null }>

/** Returns one row or more. The extra column is the chain's height; the others are null for an unknown transaction. */
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
            .as('extra'),
        )
        .as('chain'),
    )
    .leftJoin('payments', (join) =>
      join.on('payments.chain_id', '=', value('chainId')).on('payments.tx_hash', '=', value('txHash')),
    )
    .leftJoin('statuses', 'statuses.payment_id', 'payments.id')
    .select(paymentColumns)
    .select('chain.extra')
    .orderBy('payments.ordinal')
    .$castTo<TransactionRow>()
}
