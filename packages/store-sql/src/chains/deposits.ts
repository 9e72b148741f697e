/** Stores deposits that wait for their fulfillment on another chain. @module */
import type { ChainReads, WaitingDeposit } from '@payment-integration/core/internal'
import type { BridgeDeposit, PaymentFacts } from '@payment-integration/core/ports'
import { type NotNull, sql } from 'kysely'
import type { Connection } from '../engine.js'
import { listColumns, runBulk } from '../internal/statements.js'
import { checkInteger, parseId, unpack } from '../internal/values.js'
import { packPricing, unpackPricing } from '../payments/payment-row.js'

/** The fields of a deposit with large integers. A large integer in another field is rejected when it is packed. */
const amounts: ReadonlySet<string> = new Set(['amount', 'gross', 'net'])

/** Formats a deposit as JSON text. Large integers are decimal digits, because JSON numbers would round them. */
function packDeposit({ payment, output: { token, amount }, ...rest }: BridgeDeposit): string {
  const values = { ...rest, payment: { ...payment, pricing: packPricing(payment.pricing) }, output: { token, amount } }
  return JSON.stringify(values, (key, value: unknown) => (amounts.has(key) ? String(value) : value))
}

interface UnpackedDeposit extends Omit<BridgeDeposit, 'payment'> {
  readonly payment: Omit<PaymentFacts, 'pricing'> & { readonly pricing: string | null }
}

function unpackDeposit(body: string): BridgeDeposit {
  const revive = (key: string, value: unknown) => (amounts.has(key) ? BigInt(String(value)) : value)
  const { payment, ...rest } = unpack<UnpackedDeposit>(body, revive)
  return { ...rest, payment: { ...payment, pricing: unpackPricing(payment.pricing) } }
}

const columns = listColumns({
  chain_id: 'integer',
  tx_hash: 'text',
  ordinal: 'integer',
  block_number: 'integer',
  waiting: 'integer',
  body: 'text',
})

/** A settled deposit stays settled. Of two deposits with the same key in one call, the last one is stored. */
export async function upsertDeposits(db: Connection, deposits: readonly BridgeDeposit[]): Promise<void> {
  const rows = new Map(
    deposits.map((deposit) => {
      const { chainId, txHash, ordinal, blockNumber } = deposit.payment
      return [
        `${chainId}:${txHash}:${ordinal}`,
        [
          checkInteger(chainId, 'chainId'),
          txHash,
          checkInteger(ordinal, 'ordinal'),
          checkInteger(blockNumber, 'blockNumber'),
          1,
          packDeposit(deposit),
        ],
      ]
    }),
  )
  const names = columns.map(({ name }) => name).join(', ')
  // Without `where true` SQLite parses ON as part of a join. Unchanged rows are not written.
  const text = () =>
    `insert into ${db.dialect.name('deposits')} as d (${names}) select * from v where true
     on conflict (chain_id, tx_hash, ordinal) do update set block_number = excluded.block_number, body = excluded.body
     where d.block_number <> excluded.block_number or d.body <> excluded.body`
  await runBulk(db, columns, [...rows.values()], text)
}

/** Settles a deposit. False if it no longer waits. */
export async function settleDeposit(db: Connection, depositId: string): Promise<boolean> {
  const settled = await db
    .updateTable('deposits')
    .set({ waiting: 0 })
    .where('id', '=', parseId(depositId, 'id'))
    .where('waiting', '=', sql.lit(1))
    .returning('id')
    .executeTakeFirst()
  return settled !== undefined
}

/**
 * Makes deposits wait again whose fulfillments a reorg may have moved or removed: their payments are above a
 * height and not yet marked as off the chain. Other deposits of the same source transaction wait again too.
 */
export function reopenDepositsQuery(db: Connection, chainId: number, above: number) {
  const sourceHash = sql<string>`${sql.raw(db.dialect.hexText('p.source_tx_hash'))}`
  return db
    .updateTable('deposits')
    .set({ waiting: 1 })
    .where('waiting', '=', sql.lit(0))
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('chain_id', 'tx_hash'),
        'in',
        selectFrom('payments as p')
          .select(['p.source_chain_id', sourceHash.as('source_tx_hash')])
          .where('p.chain_id', '=', chainId)
          .where('p.block_number', '>', above)
          .where('p.off_chain', '=', 0)
          .where('p.source_chain_id', '<>', chainId)
          .$narrowType<{ source_chain_id: NotNull }>()
          .$asTuple('source_chain_id', 'source_tx_hash'),
      ),
    )
}

export async function forgetDeposits(db: Connection, chainId: number, above: number): Promise<void> {
  await db
    .deleteFrom('deposits')
    .where('chain_id', '=', chainId)
    .where('block_number', '>', above)
    .where('waiting', '=', sql.lit(1))
    .execute()
}

export function waitingQuery(db: Connection, { afterId, limit }: Parameters<ChainReads['waitingDeposits']>[0]) {
  return db
    .selectFrom('deposits')
    .select(['id', 'body'])
    .where('waiting', '=', sql.lit(1))
    .where('id', '>', afterId === undefined ? 0 : parseId(afterId, 'afterId'))
    .orderBy('id')
    .limit(checkInteger(limit, 'limit', 1))
}

export async function waitingDeposits(
  db: Connection,
  query: Parameters<ChainReads['waitingDeposits']>[0],
): Promise<WaitingDeposit[]> {
  const rows = await waitingQuery(db, query).execute()
  return rows.map(({ id, body }) => ({ id: String(id), deposit: unpackDeposit(body) }))
}
