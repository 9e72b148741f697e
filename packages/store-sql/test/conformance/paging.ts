/**
 * Tests: pages are a plain sort, cut, also while payments are inserted and moved by reorgs. Source: docs/interface.md
 * 4.1. @module
 */
import type { PagePosition, PageQuery } from '@payment-integration/core/internal'
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
    const query = { integrationAddress: shop, txHash: payment.txHash }
    for (const wallet of [payment.sender, payment.receiver])
      expect(await store.payments.findByHash({ ...query, wallet })).toEqual([payment])
  })
}

type Scope = Pick<PageQuery, 'integrationAddress' | 'wallet'>

const inScope =
  ({ integrationAddress, wallet }: Scope) =>
  (one: PaymentFacts) =>
    one.integrationAddress === integrationAddress &&
    (wallet === undefined || [one.sender, one.receiver].includes(wallet))

/** More than any test stores. */
const endless = 2_000

/** A reader of one list, page by page. */
interface Walk {
  readonly scope: Scope
  /** The hashes that were in the list when it began. */
  readonly expected: readonly string[]
  /** Hashes in the order they were read. */
  readonly seen: string[]
  /** The position of the next page; null after the last. */
  after: PagePosition | null | undefined
}

async function readOn(store: Store, walk: Walk, limit: number): Promise<void> {
  if (walk.seen.length > endless) throw new Error(`The walk does not end within ${endless} payments.`)
  const page = await store.payments.list({ ...walk.scope, after: walk.after ?? undefined, limit })
  walk.seen.push(...page.payments.map(({ txHash }) => txHash))
  if (page.next !== null) expect(page.payments).toHaveLength(limit)
  walk.after = page.next
}

/** The n-th payment: a second older than the next one. */
const numbered = (n: number, changes: Partial<PaymentFacts> = {}): PaymentFacts =>
  facts({ txHash: hash(n), blockTimestamp: epoch + n * 1_000, ...changes })

const store6 = async (store: Store) => {
  for (let n = 1; n <= 6; n += 1) await indexed(store, numbered(n))
}

const firstPosition = async (store: Store) => (await store.payments.list({ integrationAddress: shop, limit: 2 })).next

/** Mines payments again, each in a block with another time. */
async function move(store: Store, ...moved: readonly PaymentFacts[]): Promise<void> {
  await store.transaction(async (tx) => {
    for (const chainId of new Set(moved.map((one) => one.chainId))) await tx.lockChain(chainId)
    expect(await tx.upsertPayments(moved.map((one) => ({ facts: one, primary: true })))).toEqual({
      inserted: [],
      returned: [],
    })
  })
}

const at = (n: number) => ({ blockTimestamp: epoch + n * 1_000 })

export function walkTests(test: StoreTest): void {
  test('positions do not tell of moves of other integrations, or of unlisted payments', async ({ store }) => {
    await store6(store)
    const before = await firstPosition(store)
    for (const [n, integrationAddress] of [otherShop, null].entries()) {
      await indexed(store, numbered(7 + n, { integrationAddress }))
      await move(store, numbered(7 + n, { integrationAddress, ...at(9) }))
    }
    await store.transaction((tx) => tx.upsertPayments([{ facts: numbered(6, { ordinal: 1 }), primary: false }]))
    await move(store, numbered(6, { ordinal: 1, ...at(8) }))
    expect(await firstPosition(store)).toEqual(before)
    await move(store, numbered(1, at(0)))
    expect(await firstPosition(store)).not.toEqual(before)
  })

  test('a payment that is mined again at the same time is no move', async ({ store }) => {
    await store6(store)
    const before = await firstPosition(store)
    await move(store, ...[1, 2, 3, 4, 5, 6].map((n) => numbered(n, { blockHash: hash(0xf0), logIndex: 9 })))
    expect(await firstPosition(store)).toEqual(before)
  })

  const seed = runSeed()
  for (let round = 0; round < 6; round += 1)
    test(`walks hold what was there when they began, once and in order, whatever moves (seed ${seed}, round ${round})`, async ({
      store,
    }) => {
      await randomWalks(store, seeded(seed * 31 + round))
    })
}

/** Inserts, moves and reads at random, with several walks under way; then ends every walk and judges it. */
async function randomWalks(store: Store, random: () => number): Promise<void> {
  const below = (n: number) => Math.floor(random() * n)
  const one = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const wallets = [1, 2, 3].map(address)
  const stored = new Map<string, PaymentFacts>()
  const walks: Walk[] = []
  const read = (walk: Walk) => readOn(store, walk, 1 + below(14))
  let last = 0
  const time = () => epoch + below(12) * 1_000

  const insert = async () => {
    const made = Array.from({ length: 1 + below(6) }, () =>
      facts({
        txHash: hash(BigInt(below(2 ** 40)) * 10_000n + BigInt(++last)),
        chainId: one([1, 10, 137]),
        blockTimestamp: time(),
        sender: one(wallets),
        receiver: one(wallets),
        integrationAddress: one([shop, shop, otherShop]),
      }),
    )
    await store.transaction((tx) => tx.upsertPayments(made.map((facts) => ({ facts, primary: true }))))
    for (const each of made) stored.set(each.txHash, each)
  }
  const shift = async () => {
    const moved = new Map(
      Array.from({ length: 1 + below(4) }, () => {
        const known = one([...stored.values()])
        return [known.txHash, { ...known, blockTimestamp: time(), blockHash: hash(below(2 ** 40)) }]
      }),
    )
    await move(store, ...moved.values())
    for (const each of moved.values()) stored.set(each.txHash, each)
  }
  const begin = async () => {
    const scope = { integrationAddress: one([shop, otherShop]), wallet: one([undefined, undefined, ...wallets]) }
    const expected = [...stored.values()]
      .filter(inScope(scope))
      .sort(newestFirst)
      .map(({ txHash }) => txHash)
    const walk: Walk = { scope, expected, seen: [], after: undefined }
    await read(walk)
    walks.push(walk)
  }
  const goOn = async () => {
    const open = walks.filter(({ after }) => after !== null)
    if (open.length > 0) await read(one(open))
  }

  for (let n = 0; n < 4; n += 1) await insert()
  for (let n = 0; n < 120; n += 1) await one([insert, shift, shift, begin, goOn, goOn, goOn])()
  for (const walk of walks) {
    while (walk.after !== null) await read(walk)
    const { scope, expected, seen } = walk
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((txHash) => expected.includes(txHash))).toEqual(expected)
    const scoped = inScope(scope)
    expect(seen.filter((txHash) => !scoped(stored.get(txHash) ?? facts()))).toEqual([])
  }
}
