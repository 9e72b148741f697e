/** Reads the deliveries of one integration in the order of their ids, without gaps. @module */
import type { DeliveryStore, StreamedDelivery, StreamQuery } from '@payment-integration/core/ports'
import type { Engine, SqlDialect } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { hexOf, keyBytes } from '../internal/hex.js'
import { compile, run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { snapshotBytes } from '../snapshot-row.js'

interface NewestAndWriters {
  readonly newest: Integer
  readonly writers: string
}

/**
 * Builds `completeUpTo`. Ids up to the newest one are complete once every transaction that was writing at that moment
 * has ended. Newer writers do not matter: their ids are higher.
 */
export function createCompleteUpTo({ read, dialect }: Engine): DeliveryStore['completeUpTo'] {
  let complete: number | null = null
  let waiting: { readonly upTo: number; readonly writers: ReadonlySet<string> } | null = null

  function observe(newest: number, writers: readonly string[]): void {
    if (waiting !== null && writers.some((writer) => waiting?.writers.has(writer))) return
    if (waiting !== null) complete = Math.max(complete ?? 0, waiting.upTo)
    waiting = writers.length === 0 ? null : { upTo: newest, writers: new Set(writers) }
    if (waiting === null) complete = Math.max(complete ?? 0, newest)
  }

  return async () => {
    const [row] = await run<NewestAndWriters>(read, dialect, () => dialect.newestAndWriters('snapshots'))
    if (row !== undefined) observe(integer(row.newest), JSON.parse(row.writers))
    return complete === null ? null : String(complete)
  }
}

interface StreamRow {
  readonly id: Integer
  readonly version: Integer
  readonly created_at: Integer
  readonly chain_id: Integer
  readonly tx_hash: Uint8Array
  readonly body: Uint8Array | string
}

/** Deliveries of one integration with their snapshot bytes. */
export async function streamDeliveries({ read, dialect }: Engine, query: StreamQuery): Promise<StreamedDelivery[]> {
  const { rows } = await read.executeQuery(streamQuery(dialect, query))
  return rows.map((row) => ({
    deliveryId: String(integer(row.id)),
    chainId: integer(row.chain_id),
    txHash: hexOf(row.tx_hash),
    version: integer(row.version),
    createdAt: integer(row.created_at),
    body: snapshotBytes(dialect.bytesOf(row.body), query.integrationAddress, row),
  }))
}

/** Its statement. */
export function streamQuery(dialect: SqlDialect, { integrationAddress, afterId, upToId, limit }: StreamQuery) {
  const { name, bytesText, indexRange } = dialect
  const value = keyBytes(integrationAddress)
  const range = { value, from: parseId(afterId, 'afterId') + 1, upTo: parseId(upToId, 'upToId') }
  const most = checkInteger(limit, 'limit', 1)
  return compile<StreamRow>(
    dialect,
    (parameter) => `select d.id, d.version, d.created_at, p.chain_id, p.tx_hash, ${bytesText('d.body')} as body
      from (
        select id, payment_id, version, created_at, body from ${name('snapshots')}
        where integration is not null and ${indexRange('integration', 'id', range, parameter)}
        order by integration, id limit ${parameter(most)}
      ) d
      join ${name('payments')} p on p.id = d.payment_id
      order by d.id`,
  )
}
