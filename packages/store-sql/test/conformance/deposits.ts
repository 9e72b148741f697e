/** Tests: deposits that wait for their fulfillment. @module */
import type { BridgeDeposit, Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { address, deposit, facts, hash, primary } from './fixtures.js'
import type { StoreTest } from './subject.js'

const largest = 2n ** 256n - 1n

const upsert = (store: Store, ...deposits: BridgeDeposit[]) => store.transaction((tx) => tx.upsertDeposits(deposits))
const settle = (store: Store, id: string) => store.transaction((tx) => tx.settleDeposit(id))
const leave = (store: Store, chainId: number, above: number) =>
  store.transaction((tx) => tx.markOffChainAbove(chainId, above))
const waiting = async (store: Store) => (await store.chains.waitingDeposits({ limit: 100 })).map((each) => each.deposit)
async function getId(store: Store, { payment }: BridgeDeposit): Promise<string> {
  const found = await store.chains.waitingDeposits({ limit: 100 })
  return found.find(({ deposit: each }) => each.payment.txHash === payment.txHash)?.id ?? 'none'
}
export function depositTests(test: StoreTest): void {
  test('a deposit is read with every field as stored', async ({ store }) => {
    const given = deposit(
      {
        chainId: Number.MAX_SAFE_INTEGER,
        integrationAddress: null,
        memoHex: `0x${'00ff80c3'.repeat(8)}`,
        tokenIn: { address: address(1), symbol: null, decimals: 255, amount: largest },
        tokenOut: { address: address(2), symbol: 'x\u0000\ud800"', decimals: 0, gross: largest, net: 0n },
        pricing: {
          ...facts().pricing,
          feeds: [{ use: 'divide', contract: null, pair: null, rate: largest, decimals: 8 }],
          calledAmount: largest,
        },
      },
      { bridge: 'a\u0000', depositId: largest.toString(), output: { token: address(3), amount: largest } },
    )
    await upsert(store, given)
    expect(await waiting(store)).toEqual([given])
  })

  test('deposits wait oldest first, page by page', async ({ store }) => {
    await upsert(store)
    expect(await waiting(store)).toEqual([])
    const given = [5, 3, 9, 1, 4].map((n) => deposit({ txHash: hash(n), blockNumber: n }))
    for (const each of given) await upsert(store, each)
    const found: BridgeDeposit[] = []
    for (let afterId: string | undefined, more = true; more; ) {
      const page = await store.chains.waitingDeposits({ afterId, limit: 2 })
      found.push(...page.map((each) => each.deposit))
      afterId = page.at(-1)?.id
      more = page.length === 2
    }
    expect(found).toEqual(given)
  })

  test('a deposit that is stored again has the new facts under the same id', async ({ store }) => {
    const moved = deposit({ blockNumber: 105, blockHash: hash(0xb105) }, { depositId: '8' })
    await upsert(store, deposit(), deposit({ ordinal: 1 }), deposit({ chainId: 2 }))
    const [first] = await store.chains.waitingDeposits({ limit: 1 })
    await upsert(store, deposit({ blockNumber: 104 }), moved)
    expect(await store.chains.waitingDeposits({ limit: 1 })).toEqual([{ id: first?.id, deposit: moved }])
    expect(await waiting(store)).toEqual([moved, deposit({ ordinal: 1 }), deposit({ chainId: 2 })])
  })

  test('a deposit is settled once, and does not wait again when it is stored again', async ({ store }) => {
    await upsert(store, deposit())
    const id = await getId(store, deposit())
    expect(await settle(store, id)).toBe(true)
    expect(await waiting(store)).toEqual([])
    expect(await settle(store, id)).toBe(false)
    await upsert(store, deposit({ blockNumber: 105 }))
    await leave(store, 1, 0)
    await upsert(store, deposit({ blockNumber: 106 }))
    expect(await waiting(store)).toEqual([])
    expect(await settle(store, '987654321')).toBe(false)
  })

  test('of six concurrent settlements of a deposit on two stores, one wins', async ({ store, twoStores }) => {
    const stores = await twoStores()
    for (let round = 1; round <= 10; round += 1) {
      const given = deposit({ txHash: hash(round) })
      await upsert(store, given)
      const id = await getId(store, given)
      const settled = await Promise.all([0, 1, 0, 1, 0, 1].map((n) => settle(stores[n] ?? store, id)))
      expect(settled.filter(Boolean)).toHaveLength(1)
    }
  })

  test('a deposit whose block left the chain is forgotten with its id and waits again once back', async ({ store }) => {
    const at = (blockNumber: number, chainId = 1) => deposit({ chainId, txHash: hash(blockNumber), blockNumber })
    await upsert(store, at(20), at(30, 2), at(21), at(30))
    const gone = await getId(store, at(21))
    await leave(store, 1, 20)
    expect(await waiting(store)).toEqual([at(20), at(30, 2)])
    const back = deposit({ txHash: hash(30), blockNumber: 33 })
    await upsert(store, back)
    expect(await settle(store, gone)).toBe(false)
    expect(await waiting(store)).toEqual([at(20), at(30, 2), back])
  })

  test('a deposit waits again when its payment leaves the other chain, which is overdue later', async ({ store }) => {
    const paidFrom = (given: BridgeDeposit, blockNumber: number) =>
      primary({
        ...{ chainId: 10, txHash: hash(0xf0 + blockNumber), blockNumber },
        source: { chainId: given.payment.chainId, txHash: given.payment.txHash },
      })
    const numbered = (n: number) => deposit({ txHash: hash(n) })
    const [kept, moved, off] = [numbered(1), numbered(2), numbered(3)] as const
    await upsert(store, kept, moved, off)
    for (const each of [kept, moved, off]) await settle(store, await getId(store, each))
    await store.transaction((tx) => tx.upsertPayments([paidFrom(off, 23)]))
    await leave(store, 10, 22)
    await settle(store, await getId(store, off))
    const plain = primary({ chainId: 10, txHash: hash(4), blockNumber: 21, source: { chainId: 10, txHash: hash(4) } })
    await store.transaction((tx) => tx.upsertPayments([paidFrom(kept, 20), paidFrom(moved, 21), plain]))
    await leave(store, 10, 20)
    expect(await waiting(store)).toEqual([moved])
    const all = { chainId: 10, atOrBelow: 100, limit: 100 }
    const overdue = (awaitedAtOrBelow?: number) =>
      store.transaction((tx) => tx.overduePayments({ ...all, awaitedAtOrBelow }))
    expect((await overdue(20)).map(({ txHash }) => txHash)).toEqual([hash(4), hash(0xf0 + 23)])
    for (const awaited of [21, undefined])
      expect((await overdue(awaited)).map(({ blockNumber }) => blockNumber)).toEqual([21, 21, 23])
    await settle(store, await getId(store, moved))
    expect((await overdue(20)).map(({ blockNumber }) => blockNumber)).toEqual([21, 21, 23])
  })

  test('a deposit settled while its block leaves the chain is settled or forgotten, never both', async ({ store }) => {
    for (let round = 1; round <= 10; round += 1) {
      const given = deposit({ txHash: hash(round) })
      await upsert(store, given)
      const [settled] = await Promise.all([settle(store, await getId(store, given)), leave(store, 1, 0)])
      await upsert(store, given)
      expect(await waiting(store)).toEqual(settled ? [] : [given])
      await settle(store, await getId(store, given).then((id) => (id === 'none' ? '987654321' : id)))
    }
  })
}
