import { fixtures } from '@payment-integration/core/conformance'
import type { PaymentFacts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { type OpenEngine, openPostgres, openSqlite } from '../../test/support/engines.js'
import { type Compiled, postgresScans, sqlitePlan } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { listQuery } from '../deliveries/list.js'
import { hashQuery, pageQuery } from './payment-reads.js'
import { nextChainQuery, stateQuery } from './state-reads.js'

const { address, facts, hash, indexPayments, integration, shop } = fixtures

const rows = 20_000
const limit = 50

/**
 * One wallet sends nearly all, but none of the newest: a plan that walks the integration's payments would show. One chain has
 * nearly all, and every other one is done: so would a plan that walks a state.
 */
const all: PaymentFacts[] = Array.from({ length: rows }, (_, n) =>
  facts({
    txHash: hash((BigInt(n) * 7_919n) % 50_021n),
    chainId: n % 1_000 === 999 ? 2 : 1,
    blockTimestamp: 1_000_000 + n,
    sender: address(n < rows * 0.95 ? 1 : 2),
    receiver: address(n % 3),
  }),
)
const idOf = (after?: PaymentFacts) => (after === undefined ? 0 : after.blockTimestamp - 1_000_000)
const positions = { newest: undefined, middle: all[rows / 2], 'oldest but 60': all[60] }

async function fill({ engine }: OpenEngine): Promise<void> {
  const store = createStore(engine)
  await store.migrate()
  await store.integrations.insert(integration())
  await store.transaction((tx) =>
    indexPayments(
      tx,
      all.map((one) => ({ facts: one, primary: true })),
    ),
  )
  await engine.transaction((db) =>
    db.updateTable('payments').set({ state: 'success' }).where(sql<boolean>`id % 2 = 0`).execute(),
  )
}

const queries = (db: OpenEngine['engine']['read']) => ({
  page: (after?: PaymentFacts) => pageQuery(db, { integrationAddress: shop, after, limit }),
  'page of a wallet': (after?: PaymentFacts) =>
    pageQuery(db, { integrationAddress: shop, wallet: address(1), after, limit }),
  'page of an unknown wallet': (after?: PaymentFacts) =>
    pageQuery(db, { integrationAddress: shop, wallet: address(99), after, limit }),
  'single payment': (after: PaymentFacts = facts()) =>
    hashQuery(db, { integrationAddress: shop, txHash: after.txHash, wallet: address(1) }),
  'payments by state': (after?: PaymentFacts) =>
    stateQuery(db, { states: [null, 'pending'], chainId: 1, afterId: idOf(after), limit }) as Compiled,
  'payments by state of a chain with few': (after?: PaymentFacts) =>
    stateQuery(db, { states: [null, 'pending', 'success'], chainId: 2, afterId: idOf(after), limit }) as Compiled,
  'payments by state of a chain without any': (after?: PaymentFacts) =>
    stateQuery(db, { states: [null, 'success'], chainId: 4, afterId: idOf(after), limit }) as Compiled,
  'the next chain without a state': () => nextChainQuery(db, null, 1),
  'the next chain with a state': () => nextChainQuery(db, 'success', 1),
  'deliveries by status': () => listQuery(db, { status: 'exhausted', limit }),
  'deliveries by hash': (after: PaymentFacts = facts()) => listQuery(db, { txHash: after.txHash, limit }),
})

describe('SQLite searches an index', () => {
  let open: OpenEngine
  beforeAll(async () => {
    open = await openSqlite()
    await fill(open)
  }, 60_000)
  afterAll(() => open?.close())

  for (const position of Object.keys(positions) as (keyof typeof positions)[])
    test(`and never walks or sorts a table, from the ${position}`, async () => {
      for (const [name, query] of Object.entries(queries(open.engine.read))) {
        const plan = (await sqlitePlan(open.engine, query(positions[position]))).map(({ detail }) => detail)
        expect(
          plan.some((step) => /^SEARCH \w+ USING (COVERING )?INDEX/.test(step)),
          name,
        ).toBe(true)
        expect(
          plan.filter((step) => /^SCAN (payments|deliveries|p|d)\b/.test(step)),
          name,
        ).toEqual([])
      }
    })

  test('a page is read in the order of its index, unsorted', async () => {
    const plan = await sqlitePlan(open.engine, queries(open.engine.read).page(positions.middle))
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH payments USING INDEX payments_page (integration=? AND (block_timestamp,chain_id,tx_hash)<(?,?,?))',
    ])
  })

  test('payments by state are read from both ends of their range of the index', async () => {
    const searchChain = '(state=? AND chain_id=? AND id>?)'
    for (const [name, searched] of [
      ['payments by state', [searchChain, searchChain]],
      ['the next chain without a state', ['(state=? AND chain_id>?)']],
      ['the next chain with a state', ['((state,chain_id)>(?,?) AND state<?)']],
    ] as const) {
      const plan = await sqlitePlan(open.engine, queries(open.engine.read)[name]())
      expect(
        plan.map(({ detail }) => detail).filter((step) => step.includes('payments_state')),
        name,
      ).toEqual(searched.map((range) => `SEARCH payments USING COVERING INDEX payments_state ${range}`))
    }
  })

  test('each side of a wallet is read in the order of its index before the two are merged', async () => {
    for (const position of [positions.newest, positions.middle]) {
      const plan = await sqlitePlan(open.engine, queries(open.engine.read)['page of a wallet'](position))
      for (const side of ['sender', 'receiver']) {
        const search = plan.find(({ detail }) => detail.includes(`USING COVERING INDEX payments_page_${side}`))
        expect(search).toBeDefined()
        // The search is alone in its subquery: its rows are neither sorted nor collected before the limit cuts them.
        expect(plan.filter(({ parent }) => parent === search?.parent)).toHaveLength(1)
      }
    }
  })
})

describe.skipIf(postgresMissing)(
  `PostgreSQL searches an index${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let open: OpenEngine
    beforeAll(async () => {
      open = await openPostgres()
      await fill(open)
      await sql`analyze`.execute(open.engine.read)
    }, 60_000)
    afterAll(() => open?.close())

    for (const position of Object.keys(positions) as (keyof typeof positions)[])
      test(`and touches a few rows per row of the page, from the ${position}`, async () => {
        for (const [name, query] of Object.entries(queries(open.engine.read))) {
          const scans = await postgresScans(open.engine, query(positions[position]))
          expect(scans.length, name).toBeGreaterThan(0)
          for (const { type, touched } of scans) {
            expect(type, name).toMatch(/^Index (Only )?Scan$/)
            expect(touched, name).toBeLessThanOrEqual(limit)
          }
        }
      })
  },
)
