/** Fills a database with rows that mislead planners: filters select rare rows, which are the oldest. @module */
import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Engine } from '../../src/engine.js'
import { parseHex } from '../../src/internal/values.js'
import * as fixtures from '../conformance/fixtures.js'

const { address, epoch, hash, indexAll, integration, primary } = fixtures

/** Payments, each with one delivery, one attempt and one update. */
export const rows = 10_000
/** Payments of the first integration and of the rare states; no newer ones have them. */
export const oldest = 2_000
/** The first integration has the oldest payments, the second one the others. */
export const shops: readonly string[] = [0xa0, 0xa1].map((n) => address(n))
/** The chain of the ten oldest payments. */
export const rareChain = 3

/** Block time of a payment. */
export const getTime = (n: number): number => epoch + n * 1_000
/** A position in the order of payments. */
export const getPosition = (n: number) => ({ blockTimestamp: getTime(n), id: String(n + 1) })

/** Fills it, and makes the indexes of the console. The newest 20 deliveries are pending. */
export async function fillConsoleRows(store: Store, engine: Engine): Promise<void> {
  for (let times = 0; times < 2; times += 1) await store.console.prepare()
  const others = Array.from({ length: 500 }, (_, n) => address(0x400 + n))
  for (const own of [...shops, ...others]) await fixtures.insertIntegration(store, integration({ address: own }))
  const given = Array.from({ length: rows }, (_, n) =>
    primary({
      txHash: hash(n),
      chainId: n < 10 ? rareChain : 1 + (n % 2),
      integrationAddress: shops[n < oldest ? 0 : 1] ?? null,
      blockTimestamp: getTime(n),
      memoHex: hash(n),
    }),
  )
  await indexAll(store, given)
  await engine.transaction(async (db) => {
    const state = sql`case when id < ${sql.lit(oldest)} then 'failure' else 'success' end`
    await sql`insert into ${sql.raw(engine.dialect.name('statuses'))} (payment_id, block_timestamp, version, state)
      select id, block_timestamp, 2, ${state} from ${sql.raw(engine.dialect.name('payments'))}
      where id < ${sql.lit(rows - 100)}`.execute(db)
    await db
      .deleteFrom('outbox')
      .where('id', '<=', rows - 20)
      .execute()
    for (const [n, status] of (['exhausted', 'superseded'] as const).entries())
      await db
        .updateTable('snapshots')
        .set({ undelivered: status })
        .where('id', '<=', oldest)
        .where(sql<boolean>`id % 2 = ${n}`)
        .execute()
    await db
      .updateTable('snapshots')
      .set({ created_at: sql<number>`${epoch} + id` })
      .execute()
    const name = (table: string) => sql.raw(engine.dialect.name(table))
    await sql`insert into ${name('attempts')} (delivery_id, started_at, latency_ms, number, status, replay)
      select id, created_at, 5, 1, 204, 0 from ${name('snapshots')}`.execute(db)
    const fingerprint = sql`cast(${parseHex(`0x${'f1'.repeat(16)}`)} as ${sql.raw(engine.dialect.types.bytes)})`
    await sql`insert into ${name('updates')} (payment_id, version, id, fingerprint, outcome)
      select id, 1, 'u' || id, ${fingerprint}, 'unchanged' from ${name('payments')} order by id`.execute(db)
  })
}
