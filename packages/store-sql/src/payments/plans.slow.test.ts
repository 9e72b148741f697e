import type { PaymentFacts, Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { analyze, onFilledDatabases } from '../../test/support/indexed-plans.js'
import type { Compiled } from '../../test/support/plans.js'
import { postgresScans, runsWithPreparedPlan, sqlitePlan, sqliteSteps } from '../../test/support/plans.js'
import { createStore } from '../create-store.js'
import { listQuery } from '../deliveries/delivery-lists.js'
import type { Engine } from '../engine.js'
import { selectByAddress, selectByHashes } from '../integrations/legacy.js'
import { parseHex } from '../internal/values.js'
import { selectByHashOfIntegration, selectExactPage, selectPlainPage } from './integration-payments.js'
import { nextChainQuery, transactionQuery, unsettledQuery } from './payment-reads.js'

const { address, facts, hash, indexAll, numbered, shop } = fixtures

const rows = 20_000
const limit = 50

/**
 * One wallet sends nearly all, but none of the newest: a plan that walks the integration's payments would show. One
 * chain has nearly all, and every other one is done: so would a plan that walks a state.
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
const getId = (after?: PaymentFacts) => (after === undefined ? 0 : after.blockTimestamp - 1_000_000)
const positions = { newest: undefined, middle: all[rows / 2], 'oldest but 60': all[60] }

/** Moves of payments all over the list: those before a walk began, and those since. */
const moves = { before: 2_000, since: 30 }
/** Further rows: moves of other integrations, accounts, keys, checkpoints. */
const others = 2_000
const keyHash = (n: number) => n.toString(16).padStart(64, '0')

async function fill(store: Store, engine: Engine): Promise<void> {
  await fixtures.insertIntegration(store)
  const asPrimary = (one: PaymentFacts) => ({ facts: one, primary: true })
  await indexAll(store, all.map(asPrimary))
  const step = rows / moves.before
  const later = (one: PaymentFacts) => ({ facts: { ...one, blockTimestamp: one.blockTimestamp + 1 }, primary: true })
  await store.transaction((tx) => tx.upsertPayments(all.filter((_, n) => n % step === 1).map(later)))
  for (let n = 0; n < moves.since; n += 1)
    await store.transaction((tx) => tx.upsertPayments(all.slice(n * 600 + 3, n * 600 + 4).map(later)))
  await store.transaction(async (tx) => {
    for (let n = 1; n <= 1_000; n += 1) await tx.setCheckpoint(1, { blockNumber: n, blockHash: hash(n) })
  })
  await engine.transaction(async (db) => {
    for (let n = 0; n < others; n += 1) {
      const epoch = { integration: parseHex(address(0x1000 + n)), seq: n }
      await db.insertInto('page_epochs').values(epoch).execute()
      const account = { handle: `"h${n}"`, address: address(n), config: '{"coins":[]}', created_at: n }
      await db.insertInto('accounts').values(account).execute()
      const { handle } = account
      await db
        .insertInto('account_addresses')
        .values({ address: address(n), handle })
        .execute()
      const key = { id: `"k${n}"`, name: '""', hash: keyHash(n), key_version: 1, created_at: n, revoked_at: null }
      await db.insertInto('legacy_keys').values(key).execute()
    }
  })
  const { name } = engine.dialect
  await engine.transaction((db) =>
    sql`insert into ${sql.raw(name('statuses'))} (payment_id, block_timestamp, version, state)
      select id, block_timestamp, 2, 'success' from ${sql.raw(name('payments'))} where id % 2 = 0`.execute(db),
  )
}

/** The newest payment's place, and nothing behind which there is none. */
const newest = facts({ blockTimestamp: 2_000_000 })
const shapeOn =
  ({ dialect }: Pick<Engine, 'dialect'>) =>
  (after?: PaymentFacts) => ({
    isOfWallet: false,
    isAfterCursor: after !== undefined,
    size: limit,
    bytes: sql.raw(dialect.types.bytes),
  })
function values({ after = facts(), wallet = '0x' }: { after?: PaymentFacts | undefined; wallet?: string }) {
  const { blockTimestamp, chainId } = after
  const [integration, txHash] = [parseHex(shop), parseHex(after.txHash)]
  const all = { integration, wallet: parseHex(wallet), blockTimestamp, chainId, txHash, asOf: 1 }
  return <Name extends keyof typeof all>(name: Name) => all[name]
}

/** Those that requests are made of: connections keep their plans. */
const preparedQueries = ({ read: db, dialect }: Engine, shape = shapeOn({ dialect })) => ({
  page: (after?: PaymentFacts) => selectPlainPage(db, values({ after }), shape(after)),
  'page of a wallet': (after?: PaymentFacts) =>
    selectPlainPage(db, values({ after, wallet: address(1) }), { ...shape(after), isOfWallet: true }),
  'page of an unknown wallet': (after?: PaymentFacts) =>
    selectPlainPage(db, values({ after, wallet: address(99) }), { ...shape(after), isOfWallet: true }),
  'single payment': (after: PaymentFacts = facts()) => selectByHashOfIntegration(db, values({ after })),
  'single payment of a wallet': (after: PaymentFacts = facts()) =>
    selectByHashOfIntegration(db, values({ after, wallet: address(1) }), true),
  transaction: (after: PaymentFacts = facts()) => transactionQuery(db, values({ after })),
  'accounts by address': () => selectByAddress(db, address(7)) as Compiled,
  'legacy keys by hash': () => selectByHashes(db, [7, 8, others].map(keyHash)) as Compiled,
})

const queries = (engine: Engine, db = engine.read, shape = shapeOn(engine)) => ({
  ...preparedQueries(engine),
  'page after moves': (after: PaymentFacts = newest) => selectExactPage(db, values({ after }), shape(after)),
  'page of a wallet after moves': (after: PaymentFacts = newest) =>
    selectExactPage(db, values({ after, wallet: address(1) }), { ...shape(after), isOfWallet: true }),
  'page of an unknown wallet after moves': (after: PaymentFacts = newest) =>
    selectExactPage(db, values({ after, wallet: address(99) }), { ...shape(after), isOfWallet: true }),
  'unsettled payments': (after?: PaymentFacts) => unsettledQuery(db, { chainId: 1, afterId: getId(after), limit }),
  'unsettled payments of a chain with few': (after?: PaymentFacts) =>
    unsettledQuery(db, { chainId: 2, afterId: getId(after), limit }),
  'unsettled payments of a chain without any': (after?: PaymentFacts) =>
    unsettledQuery(db, { chainId: 4, afterId: getId(after), limit }),
  'the next chain with unsettled payments': () => nextChainQuery(db, 1),
  'deliveries by status': () => listQuery(db, { status: 'exhausted', limit }),
  'deliveries by hash': (after: PaymentFacts = facts()) => listQuery(db, { txHash: after.txHash, limit }),
})

const scan = /^SCAN (payments|payment_repositions|page_epochs|checkpoints|account\w*|legacy_keys|deliveries|p|d|r)\b/
const isScan = (step: string) => scan.test(step)
/** Steps that find a value, and read no table. */
const ofValue = /^((SCALAR|REUSE) SUBQUERY \d+|SCAN CONSTANT ROW)$/

onFilledDatabases(fill, {
  SQLite(engine) {
    for (const position of Object.keys(positions) as (keyof typeof positions)[])
      test(`and never walks or sorts a table, from the ${position}`, async () => {
        for (const [name, query] of Object.entries(queries(engine()))) {
          const plan = await sqliteSteps(engine(), query(positions[position]))
          const searches = plan.filter((step) => /^SEARCH \w+ USING (COVERING )?INDEX/.test(step))
          expect(searches, name).not.toEqual([])
          expect(plan.filter(isScan), name).toEqual([])
        }
      })

    test('a page is read in the order of its index, and only payments of one block time are sorted', async () => {
      const plan = await sqliteSteps(engine(), queries(engine()).page(positions.middle))
      expect(plan.filter((step) => !ofValue.test(step))).toEqual([
        'SEARCH payments USING INDEX payments_page (integration=? AND block_timestamp<?)',
        'SEARCH statuses USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN',
        'SEARCH page_epochs USING INDEX sqlite_autoindex_page_epochs_1 (integration=?)',
        'USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY',
      ])
    })

    test('unsettled payments are read in the order of their key', async () => {
      for (const [name, range] of [
        ['unsettled payments', '(chain_id=? AND payment_id>?)'],
        ['the next chain with unsettled payments', '(chain_id>?)'],
      ] as const) {
        const plan = await sqliteSteps(engine(), queries(engine())[name]())
        const steps = plan.filter((step) => step.includes('unsettled'))
        expect(steps, name).toEqual([`SEARCH unsettled USING COVERING INDEX sqlite_autoindex_unsettled_1 ${range}`])
      }
    })

    test('each side of a wallet is read in the order of its index before the two are merged', async () => {
      for (const position of [positions.newest, positions.middle]) {
        const plan = await sqlitePlan(engine(), queries(engine())['page of a wallet'](position))
        for (const side of ['sender', 'receiver']) {
          const search = plan.find(({ detail }) => detail.includes(`USING INDEX payments_page_${side}`))
          expect(search).toBeDefined()
          // Only payments of one block time are sorted or collected before the limit cuts them.
          const steps = plan.filter(({ parent, detail }) => parent === search?.parent && !ofValue.test(detail))
          expect(steps.map(({ detail }) => detail)).toEqual([
            search?.detail,
            'USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY',
          ])
        }
      }
    })
  },

  PostgreSQL(engine) {
    for (const position of Object.keys(positions) as (keyof typeof positions)[])
      for (const plans of ['custom', 'generic'] as const)
        test(`and touches a few rows per row of the page, from the ${position}, with ${plans} plans`, async () => {
          await analyze(engine())
          const planned = plans === 'custom' ? queries : preparedQueries
          for (const [name, query] of Object.entries(planned(engine()))) {
            const scans = await postgresScans(engine(), query(positions[position]), plans)
            expect(scans.length, name).toBeGreaterThan(0)
            // A walk passes the payments that moved since it began, and finds each of them by its key.
            // The row of the position and the one that ends a block time are read too.
            const bound = (name.endsWith('after moves') ? limit + moves.since : limit) + 2
            for (const { type, table, touched } of scans) {
              if (table === 'payment_repositions') expect(type, name).toMatch(/^(Index (Only )?|Bitmap Heap )Scan$/)
              // One row a month: reading all is as quick.
              else if (table === 'segments') expect(type, name).toMatch(/ Scan$/)
              else expect(type, `${name}, ${table}`).toMatch(/^Index (Only )?Scan$/)
              expect(touched, `${name}, ${table}`).toBeLessThanOrEqual(bound)
            }
          }
        })

    test('and within a block of 1,000 payments touches that block alone', async () => {
      const at = 5_000_000
      const block = numbered(1_000, 100_000, { blockTimestamp: at, sender: address(1) })
      await indexAll(createStore(engine()), block)
      for (const name of ['page', 'page of a wallet'] as const)
        for (const after of [undefined, block[500]?.facts])
          for (const plans of ['custom', 'generic'] as const)
            for (const { table, touched } of await postgresScans(engine(), queries(engine())[name](after), plans))
              expect(touched, `${name}, ${table}, ${plans}`).toBeLessThanOrEqual(block.length + limit + 2)
    })

    test('with the plan that it keeps: none is made for a request once five were', async () => {
      for (const [name, query] of Object.entries(preparedQueries(engine())))
        for (const position of [positions.newest, positions.middle])
          expect(await runsWithPreparedPlan(engine(), query(position), 3), name).toBe(3)
    })
  },
})
