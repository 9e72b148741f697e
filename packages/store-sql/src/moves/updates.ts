/** Reads and stores the updates of an integration. Source: docs/decisions/cells.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { MovedUpdate, UpdatePage } from '@payment-integration/core/ports'
import type { BulkColumn, Connection, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { hexBytes, hexOf } from '../internal/hex.js'
import { integer, nullableInteger, pack, unpack } from '../internal/values.js'

/** Updates of the whole cell that one statement reads. */
const pageSize = 2_000

/** The updates of an integration's payments, and those that wait, by id. Reads every update of the cell once. */
export async function* updatesOf(read: Connection, address: string): AsyncGenerator<UpdatePage> {
  for (let after = ''; ; ) {
    const rows = await read
      .selectFrom((from) =>
        from.selectFrom('updates').selectAll().where('id', '>', after).orderBy('id').limit(pageSize).as('u'),
      )
      .leftJoin('payments as p', 'p.id', 'u.payment_id')
      .select(['u.id', 'u.fingerprint', 'u.outcome', 'u.reason', 'u.version', 'u.body'])
      .select(['p.chain_id', 'p.tx_hash', 'p.ordinal', 'p.integration'])
      .orderBy('u.id')
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    const decided: MovedUpdate[] = []
    const waiting: ProcessorUpdate[] = []
    for (const { chain_id, tx_hash, ordinal, integration, ...row } of rows) {
      const content = unpack<ProcessorUpdate>(row.body)
      if (row.outcome === 'waiting') {
        if (content !== null && (content.integrationAddress ?? address) === address) waiting.push(content)
        continue
      }
      if (chain_id === null || tx_hash === null || ordinal === null || integration === null) continue
      if (hexOf(integration) !== address) continue
      decided.push({
        chainId: integer(chain_id),
        txHash: hexOf(tx_hash),
        ordinal: integer(ordinal),
        id: row.id,
        fingerprint: hexOf(row.fingerprint),
        outcome: row.outcome as MovedUpdate['outcome'],
        reason: unpack<string>(row.reason),
        version: nullableInteger(row.version),
        content,
      })
    }
    yield { decided, waiting }
  }
}

const columns: readonly BulkColumn[] = [
  { name: 'chain_id', type: 'integer' },
  { name: 'tx_hash', type: 'hex' },
  { name: 'ordinal', type: 'integer' },
  { name: 'id', type: 'text' },
  { name: 'fingerprint', type: 'hex' },
  { name: 'outcome', type: 'text' },
  { name: 'reason', type: 'text' },
  { name: 'version', type: 'integer' },
  { name: 'body', type: 'text' },
]
const names = columns.map(({ name }) => name).join(', ')

/**
 * Stores updates of an integration's payments, and replaces the outcome of those with the same fingerprint.
 * @returns Their ids.
 */
export async function putUpdates(
  db: Connection,
  dialect: SqlDialect,
  address: string,
  updates: readonly MovedUpdate[],
): Promise<string[]> {
  const rows = updates.map(({ chainId, txHash, ordinal, id, fingerprint, outcome, reason, version, content }) => [
    ...[chainId, txHash, ordinal, id, fingerprint, outcome],
    ...[pack(reason), version, pack(content)],
  ])
  const own = dialect.name('updates')
  const stored = await bulk<{ id: string }>(
    db,
    dialect,
    columns,
    rows,
    (source, parameter) => `with v (${names}) as (${source})
      insert into ${own} (id, fingerprint, payment_id, outcome, reason, version, body)
      select v.id, v.fingerprint, p.id, v.outcome, v.reason, v.version, v.body
      from v join ${dialect.name('payments')} as p
        on p.tx_hash = v.tx_hash and p.chain_id = v.chain_id and p.ordinal = v.ordinal
      where p.integration = ${parameter(hexBytes(address))} order by v.id
      on conflict (id) do update set payment_id = excluded.payment_id, outcome = excluded.outcome,
        reason = excluded.reason, version = excluded.version, body = excluded.body, chain_id = null, tx_hash = null
      where ${own}.fingerprint = excluded.fingerprint returning id`,
  )
  return stored.map(({ id }) => id)
}
