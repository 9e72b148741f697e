/** Reads payments by state for receipt polling, one index range per chain and state. @module */
import type { PaymentReads, StoredPayment } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger, parseId } from '../internal/checks.js'
import { storedPayment } from './payment-row.js'

type State = StoredPayment['state']

/** The reads by state of a connection. */
export function createStateReads(db: Connection): Pick<PaymentReads, 'listByState' | 'chainsByState'> {
  async function chainsByState(states: readonly State[]): Promise<number[]> {
    const found = new Set<number>()
    for (const state of new Set(states))
      for (let after = -1; ; ) {
        const next = await nextChainQuery(db, state, after).executeTakeFirst()
        if (next === undefined) break
        after = Number(next.chain_id)
        found.add(after)
      }
    return [...found].sort((a, b) => a - b)
  }

  return {
    chainsByState,
    async listByState({ states, chainIds, ...query }) {
      const limit = checkInteger(query.limit, 'limit', 1)
      const afterId = query.afterId === undefined ? 0 : parseId(query.afterId, 'afterId')
      for (const chainId of chainIds ?? []) checkInteger(chainId, 'chainId')
      const found: StoredPayment[] = []
      for (const chainId of new Set(chainIds ?? (await chainsByState(states))))
        found.push(...((await stateQuery(db, { states, chainId, afterId, limit })?.execute()) ?? []).map(storedPayment))
      return found.sort((a, b) => Number(a.id) - Number(b.id)).slice(0, limit)
    },
  }
}

/** Payments of one chain, in some states. */
export interface StateQuery {
  readonly states: readonly State[]
  readonly chainId: number
  readonly afterId: number
  readonly limit: number
}

/** One index range per state, each up to the limit, merged by id. Undefined without a state. */
export function stateQuery(db: Connection, { states, chainId, afterId, limit }: StateQuery) {
  const ofState = (state: State) =>
    db.selectFrom(stateIds(db, state, chainId, afterId).limit(limit).as('one')).select('id')
  const [first, ...others] = [...new Set(states)].map(ofState)
  if (first === undefined) return undefined
  const ids = db
    .selectFrom(others.reduce((all, one) => all.unionAll(one), first).as('states'))
    .select('id')
    .orderBy('id')
    .limit(limit)
  return db
    .selectFrom(ids.as('ids'))
    .innerJoin('payments', 'payments.id', 'ids.id')
    .selectAll('payments')
    .orderBy('payments.id')
}

/** The lowest chain above `after` that has a payment in a state. */
export function nextChainQuery(db: Connection, state: State, after: number) {
  const next = inOrder(db).select('chain_id').limit(1)
  return state === null
    ? next.where('state', 'is', null).where('chain_id', '>', after)
    : next.where('state', '<=', state).where(sql<boolean>`(state, chain_id) > (${state}, ${after})`)
}

// The literal shows both planners that the partial index applies. The state is a range and leads the order, so that no
// other index fits. With `state =`, PostgreSQL may scan the key instead, past any number of other rows.
function inOrder(db: Connection) {
  return db
    .selectFrom('payments')
    .where(sql<boolean>`is_primary = 1`)
    .orderBy('state')
    .orderBy('chain_id')
    .orderBy('id')
}

function stateIds(db: Connection, state: State, chainId: number, afterId: number) {
  const ids = inOrder(db).select('id')
  return state === null
    ? ids.where('state', 'is', null).where('chain_id', '=', chainId).where('id', '>', afterId)
    : ids
        .where(sql<boolean>`(state, chain_id) <= (${state}, ${chainId})`)
        .where(sql<boolean>`(state, chain_id, id) > (${state}, ${chainId}, ${afterId})`)
        // SQLite does not use a row's key in such a comparison and would scan the chain from its start. Its planner
        // sees an equality here; PostgreSQL's does not.
        .where(sql<boolean>`state is not distinct from ${state}`)
        .where('chain_id', '=', chainId)
        .where('id', '>', afterId)
}
