import type { PagePosition } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { deferred } from '../../../core/test/support/until.js'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { lockIsAwaited } from '../../test/support/on-postgres.js'
import { createStore } from '../create-store.js'
import type { Engine } from '../engine.js'

const { epoch, facts, hash, primary, shop } = fixtures

/** The payment of a number on its chain, at a second. */
const payment = (n: number, second = n) =>
  primary({ txHash: hash(n), chainId: 1 + (n % 2), blockTimestamp: epoch + second * 1_000 })

const asTheyWere = [6, 5, 4, 3, 2, 1].map(hash)

async function readOn(store: Store, from: PagePosition | null): Promise<string[]> {
  const seen: string[] = []
  for (let after = from; after !== null; ) {
    const page = await store.payments.list({ integrationAddress: shop, after, limit: 2 })
    seen.push(...page.payments.map(({ txHash }) => txHash))
    after = page.next
  }
  return seen
}

onBothDatabases((empty, database) => {
  let engine: Engine
  let store: Store
  beforeEach(async () => {
    engine = await empty()
    store = createStore(engine)
    await store.migrate()
    await store.transaction((tx) => tx.upsertPayments([1, 2, 3, 4, 5, 6].map((n) => payment(n))))
  })

  const firstPage = () => store.payments.list({ integrationAddress: shop, limit: 2 })

  test('a move that is in flight while the first page is read is one after it', async () => {
    const { payments, next } = await store.transaction(async (tx) => {
      await tx.upsertPayments([payment(6, 1.5), payment(2, 9)])
      return firstPage()
    })
    expect([...payments.map(({ txHash }) => txHash), ...(await readOn(store, next))]).toEqual(asTheyWere)
  })

  test('a move that is undone is none', async () => {
    const { next } = await firstPage()
    const undone = store.transaction(async (tx) => {
      await tx.upsertPayments([payment(2, 9)])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect((await firstPage()).next).toEqual(next)
    expect(await readOn(store, next)).toEqual(asTheyWere.slice(2))
  })

  test('moves on two chains at once are counted in the order of their commits', async () => {
    const [moved, release] = [deferred(), deferred()]
    const one = store.transaction(async (tx) => {
      await tx.upsertPayments([payment(1, 9)])
      moved.resolve()
      await release.promise
    })
    await moved.promise
    let committed = false
    const other = store
      .transaction((tx) => tx.upsertPayments([payment(2, 10)]))
      .then(() => {
        committed = true
      })
    if (database === 'PostgreSQL') await lockIsAwaited((text) => sql.raw(text).execute(engine.read))
    expect(committed).toBe(false)
    const { next } = await firstPage()
    release.resolve()
    await Promise.all([one, other])
    expect(await readOn(store, next)).toEqual(asTheyWere.slice(2))
  })

  test('a call with 5,003 moves is one move of the count', async () => {
    const many = Array.from({ length: 5_003 }, (_, n) => facts({ txHash: hash(n + 100), chainId: 1 }))
    const upsert = (shift: number) => {
      const shifted = many.map((one) => primary({ ...one, blockTimestamp: one.blockTimestamp - shift }))
      return store.transaction((tx) => tx.upsertPayments(shifted))
    }
    await upsert(1_000_000)
    const { next } = await firstPage()
    await upsert(2_000_000)
    expect((await firstPage()).next?.asOf).toBe((next?.asOf ?? 0) + 1)
    const walk = async (after: PagePosition | null) =>
      after === null ? null : store.payments.list({ integrationAddress: shop, after, limit: 4_000 })
    const second = await walk(next)
    const third = await walk(second?.next ?? null)
    expect(third?.next).toBeNull()
    const seen = [...(second?.payments ?? []), ...(third?.payments ?? [])].map(({ txHash }) => txHash)
    expect(seen).toHaveLength(5_003 + 4)
    expect(new Set(seen).size).toBe(seen.length)
  })
})
