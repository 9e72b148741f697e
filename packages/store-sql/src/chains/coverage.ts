/** Stores the blocks that were read for each router of a chain. @module */
import type { RouterCoverage } from '@payment-integration/core/ports'
import type { Connection } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, nullableInteger } from '../internal/values.js'

/** The coverage of a chain's routers, by router. */
export async function listCoverage(db: Connection, chainId: number): Promise<RouterCoverage[]> {
  const rows = await db
    .selectFrom('coverage')
    .select(['router', 'from_block', 'to_block'])
    .where('chain_id', '=', checkInteger(chainId, 'chainId'))
    .orderBy('router')
    .execute()
  return rows.map(({ router, from_block, to_block }) => ({
    router,
    from: integer(from_block),
    to: nullableInteger(to_block),
  }))
}

/** Stores a router's coverage, replacing its earlier one. */
export async function setCoverage(
  db: Connection,
  chainId: number,
  { router, from, to }: RouterCoverage,
): Promise<void> {
  const range = {
    from_block: checkInteger(from, 'from'),
    // A router that is not read yet ends one block before its start.
    to_block: to === null ? null : checkInteger(to, 'to', Math.max(0, from - 1)),
  }
  await db
    .insertInto('coverage')
    .values({ chain_id: checkInteger(chainId, 'chainId'), router, ...range })
    .onConflict((conflict) => conflict.columns(['chain_id', 'router']).doUpdateSet(range))
    .execute()
}
