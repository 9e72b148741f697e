/** Tests: pages are a plain sort, cut. Source: docs/interface.md 4.1. @module */
import type { PagePosition } from '@payment-integration/core/internal'
import type { PaymentFacts, Store, StoredPayment } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { address, epoch, facts, hash, indexed, listed, newestFirst, otherShop, shop } from './fixtures.js'
import { runSeed, seeded } from './random.js'
import type { StoreTest } from './subject.js'

async function readAll(store: Store, query: { wallet?: string; limit(): number }): Promise<StoredPayment[]> {
  const all: StoredPayment[] = []
  for (let after: PagePosition | undefined; ; ) {
    const limit = query.limit()
    const page = await store.payments.list({ integrationAddress: shop, wallet: query.wallet, after, limit })
    all.push(...page.payments)
    if (page.next === null) return all
    expect(page.payments).toHaveLength(limit)
    after = page.next
  }
}

/** Few different values, so that ties, self-payments and shared wallets occur. */
function randomFacts(random: () => number, n: number): PaymentFacts {
  const one = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0]
  return facts({
    txHash: hash(BigInt(Math.floor(random() * 2 ** 50)) * 1_000n + BigInt(n)),
    chainId: one(1, 9, 10, 137, 42_161),
    blockTimestamp: epoch + Math.floor(random() * 6) * 1_000,
    sender: one(address(1), address(2), address(3)),
    receiver: one(address(1), address(2), address(4)),
    integrationAddress: one(shop, shop, shop, otherShop, null),
  })
}
export function pagingTests(test: StoreTest): void {
  const seed = runSeed()
  test(`pages of 400 payments equal a plain sort, for the integration and each wallet (seed ${seed})`, async ({
    store,
  }) => {
    const random = seeded(seed)
    const limit = () => 1 + Math.floor(random() * 60)
    const given = Array.from({ length: 400 }, (_, n) => randomFacts(random, n))
    await store.transaction((tx) => tx.upsertPayments(given.map((one) => ({ facts: one, primary: true }))))
    const own = given.filter(({ integrationAddress }) => integrationAddress === shop).sort(newestFirst)
    const hashes = (payments: readonly PaymentFacts[]) => payments.map(({ txHash }) => txHash)
    expect(hashes(await readAll(store, { limit }))).toEqual(hashes(own))
    for (const wallet of [1, 2, 3, 4, 5].map(address)) {
      const expected = own.filter(({ sender, receiver }) => sender === wallet || receiver === wallet)
      expect(hashes(await readAll(store, { wallet, limit }))).toEqual(hashes(expected))
    }
  })

  test('no read shows a payment of another integration or of none', async ({ store }) => {
    const { sender, receiver } = await indexed(store, { txHash: hash(1), integrationAddress: otherShop })
    await indexed(store, { txHash: hash(2), integrationAddress: null })
    for (const wallet of [undefined, sender, receiver]) {
      expect(await listed(store, { wallet })).toEqual([])
      for (const txHash of [hash(1), hash(2)])
        expect(await store.payments.findByHash({ integrationAddress: shop, txHash, wallet })).toEqual([])
    }
  })

  test('a hash on three chains is found at most twice, and once where the wallet narrows it', async ({ store }) => {
    for (const chainId of [1, 10, 137]) await indexed(store, { chainId, sender: address(chainId) })
    const find = (wallet?: string) => store.payments.findByHash({ integrationAddress: shop, txHash: hash(1), wallet })
    expect(await find()).toHaveLength(2)
    expect((await find(address(10))).map(({ chainId }) => chainId)).toEqual([10])
    expect(await find(address(11))).toEqual([])
  })

  test('a hash is found by sender and by receiver', async ({ store }) => {
    const payment = await indexed(store)
    for (const wallet of [payment.sender, payment.receiver])
      expect(await store.payments.findByHash({ integrationAddress: shop, txHash: payment.txHash, wallet })).toEqual([
        payment,
      ])
  })
}
