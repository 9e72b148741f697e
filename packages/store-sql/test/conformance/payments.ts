/** Tests: payments come back exactly as they were stored. @module */
import type { NewPayment } from '@payment-integration/core/internal'
import type { PaymentFacts, StoredPayment } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import type { StoreTest } from './subject.js'

const { address, facts, getStatus, hash, indexAll, indexed, listed, makeBody, makeSnapshot, nextVersion } = fixtures
const { numbered, otherShop, primary, setStatus, shop } = fixtures

const largest = 2n ** 256n - 1n
/** What storing known payments comes to. */
const nothing = { inserted: [], returned: [] }
export function paymentTests(test: StoreTest): void {
  test('a payment is read with every field as stored', async ({ store }) => {
    const given = facts({
      memoHex: `0x${'00ff80c3'.repeat(8)}`,
      tokenIn: { address: address(1), symbol: null, decimals: 255, amount: largest },
      tokenOut: { address: address(2), symbol: '', decimals: 0, gross: largest, net: 0n },
      chainId: Number.MAX_SAFE_INTEGER,
      blockTimestamp: 0,
      pricing: {
        listedToken: { symbol: 'US\u0000DC', currency: '\ud800"' },
        feeds: [
          { use: 'divide', contract: address(3), pair: { base: 'EUR', quote: '\u0000' }, rate: largest, decimals: 8 },
          { use: 'multiply', contract: null, pair: null, rate: 1n, decimals: 0 },
        ],
        calledAmount: largest,
        serviceFee: 0n,
      },
    })
    const payment = await indexed(store, given)
    expect(payment).toEqual({
      ...given,
      id: payment.id,
      primary: true,
      offChain: false,
      dropped: null,
      ...getStatus(1, { state: null }),
    })
    expect(await listed(store)).toEqual([payment])
  })

  const { tokenIn, tokenOut } = facts()
  const { address: token, symbol: usdc, decimals } = tokenIn
  const repeating: readonly (readonly [string, Partial<PaymentFacts>])[] = [
    ['its own source', { source: { chainId: 1, txHash: hash(1) } }],
    ['a source of its chain', { source: { chainId: 1, txHash: hash(2) } }],
    ['a source with its hash', { source: { chainId: 10, txHash: hash(1) } }],
    ['one token', { tokenOut: { ...tokenOut, address: token, symbol: usdc, decimals } }],
    [
      'one token without a symbol',
      { tokenIn: { ...tokenIn, symbol: null }, tokenOut: { ...tokenOut, address: token, symbol: null, decimals } },
    ],
    ['a token with two symbols', { tokenOut: { ...tokenOut, address: token, decimals } }],
    ['a token that lost its symbol', { tokenOut: { ...tokenOut, address: token, symbol: null, decimals } }],
    ['a token with two decimals', { tokenOut: { ...tokenOut, address: token, symbol: usdc } }],
    ['no known price', { pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: null } }],
    ['a fee of 0', { pricing: { listedToken: null, feeds: [], calledAmount: null, serviceFee: 0n } }],
    ['an empty memo', { memoHex: '0x' }],
  ]
  test('facts that repeat each other come back as given, also when they are stored again', async ({ store }) => {
    for (const [n, [what, changes]] of repeating.entries()) {
      const given = facts({ chainId: 1, txHash: hash(1), ordinal: n, integrationAddress: address(n), ...changes })
      const payment = await indexed(store, given)
      const read = () => listed(store, { integrationAddress: address(n) })
      expect(await read(), what).toEqual([payment])
      expect(payment, what).toMatchObject(given)
      await store.transaction((tx) => tx.upsertPayments([{ facts: given, primary: true }]))
      expect(await read(), what).toEqual([payment])
    }
  })

  for (const [what, symbol] of [
    ['U+0000', 'US\u0000DC'],
    ['a lone surrogate', 'x\ud800y'],
    ['quotes, braces and backslashes', '"{\\},\''],
    ['emoji and right-to-left text', '\u{1f4b8}ש\u202e'],
    ['100,000 characters', 'ab\u00e9'.repeat(33_334)],
  ] as const)
    test(`a symbol of ${what} is stored verbatim`, async ({ store }) => {
      const token = { address: address(1), symbol, decimals: 6 }
      await indexed(store, { tokenIn: { ...token, amount: 1n }, tokenOut: { ...token, gross: 2n, net: 1n } })
      const [payment] = await listed(store)
      expect(payment?.tokenIn.symbol === symbol && payment.tokenOut.symbol === symbol).toBe(true)
    })

  test('a payment mined again takes every fact of its new block, and keeps status and owner', async ({ store }) => {
    const payment = await indexed(store)
    await nextVersion(store, payment)
    const given = { facts: facts({ ...elsewhere, integrationAddress: otherShop }), primary: false }
    expect(await store.transaction((tx) => tx.upsertPayments([given]))).toEqual(nothing)
    expect(await listed(store)).toEqual([{ ...payment, ...elsewhere, ...getStatus(2) }])
    expect(await listed(store, { integrationAddress: otherShop })).toEqual([])
  })

  test('a payment that was mined again takes a new fact that comes alone, whichever it is', async ({ store }) => {
    const payment = await indexed(store)
    for (const [what, changes] of singleChanges())
      for (const now of [changes, facts()]) {
        await store.transaction((tx) => tx.upsertPayments([primary(now)]))
        expect(await listed(store), what).toEqual([{ ...payment, ...now }])
      }
  })

  const given: NewPayment[] = Array.from({ length: 5_003 }, (_, n) => primary({ txHash: hash(n), blockTimestamp: n }))
  test('5,003 payments with their snapshots fit in one call, and again change nothing', async ({ store }) => {
    const inserted = await indexAll(store, given)
    expect(inserted.map(({ txHash }) => txHash)).toEqual(given.map((payment) => payment.facts.txHash))
    const last = inserted.at(-1)
    expect(await store.payments.snapshot(last?.id ?? '', 1)).toEqual(makeBody(last?.id ?? '', 1))
    expect(await indexAll(store, given)).toEqual([])
    expect([...(await listed(store, { limit: 6_000 }))].reverse()).toEqual(inserted)
  })

  test('of 5,003 payments of which a few are stored each new one is resolved under its own id', async ({ store }) => {
    const some = [4_999, 17, 2_500].map((n) => primary({ txHash: hash(n), blockTimestamp: n }))
    const known = (await store.transaction((tx) => tx.upsertPayments(some))).inserted
    const { inserted } = await store.transaction((tx) => tx.upsertPayments(given))
    const keys = (payments: readonly StoredPayment[]) => payments.map(({ id, txHash }) => `${id} ${txHash}`).sort()
    expect(inserted.map(({ txHash }) => txHash)).toEqual(
      given.map(({ facts: one }) => one.txHash).filter((txHash) => known.every((one) => one.txHash !== txHash)),
    )
    expect(keys(await listed(store, { limit: 6_000 }))).toEqual(keys([...known, ...inserted]))
    expect(keys(await listed(store, { limit: 6_000, wallet: given[0]?.facts.sender }))).toHaveLength(5_003)
  })

  test('an empty call stores nothing', async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.upsertPayments([])).toEqual(nothing)
      await tx.insertSnapshots([])
      await tx.setStatuses(new Map())
      await tx.upsertDeposits([])
      expect(await tx.insertUpdates([])).toEqual([])
      expect(await tx.waitingUpdates([])).toEqual([])
    })
  })

  test('a status is read as written', async ({ store }) => {
    const { id } = await indexed(store)
    const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '0.1', settlementCurrency: 'USD' }
    const recipient = { title: 'A\u0000"B\\ \ud83d', subtitle: null }
    for (const status of [
      getStatus(2, { state: 'refund_failure', recipient, invoice }),
      getStatus(3, { recipient: { title: '', subtitle: ',' } }),
      getStatus(4, { state: null }),
    ]) {
      await store.transaction((tx) => setStatus(tx, id, status))
      expect((await listed(store))[0]).toMatchObject(status)
    }
  })

  test('only primary payments are listed, found and changed', async ({ store }) => {
    await store.transaction((tx) => tx.upsertPayments([{ facts: facts(), primary: false }]))
    expect(await listed(store)).toEqual([])
    expect(await listed(store, { wallet: facts().sender })).toEqual([])
    expect(await store.payments.findByHash({ integrationAddress: shop, txHash: hash(1) })).toEqual([])
    expect(await store.payments.listUnsettled({ chainId: 1, limit: 10 })).toEqual([])
    expect(await store.transaction((tx) => tx.paymentsForChange({ chainId: 1, txHash: hash(1) }))).toEqual([])
  })

  test('a selector names the primary payments of a transaction by ordinal, whomever they name', async ({ store }) => {
    await store.transaction((tx) =>
      tx.upsertPayments([
        primary({ ordinal: 2, integrationAddress: null }),
        primary({ ordinal: 0 }),
        primary({ ordinal: 1, integrationAddress: otherShop }),
        { facts: facts({ ordinal: 3 }), primary: false },
        primary({ chainId: 2 }),
      ]),
    )
    const ordinals = (txHash: string) =>
      store.transaction(async (tx) => (await tx.paymentsForChange({ chainId: 1, txHash })).map((row) => row.ordinal))
    expect(await ordinals(hash(1))).toEqual([0, 1, 2])
    expect(await ordinals(hash(2))).toEqual([])
  })

  test('a payment that gets a final state leaves the unsettled ones, and may come back', async ({ store }) => {
    const { id } = await indexed(store)
    const unsettled = async (state: StoredPayment['state'], version: number) => {
      await store.transaction((tx) => setStatus(tx, id, getStatus(version, { state })))
      return (await store.payments.listUnsettled({ chainId: 1, limit: 10 })).map((one) => one.state)
    }
    expect(await unsettled('pending', 2)).toEqual(['pending'])
    expect(await unsettled('success', 3)).toEqual([])
    expect(await unsettled('success', 4)).toEqual([])
    expect(await unsettled('refund_pending', 5)).toEqual(['refund_pending'])
    expect(await unsettled(null, 6)).toEqual([null])
  })

  test('unsettled payments are those of one chain, and the chains that have some are named', async ({ store }) => {
    const rows = [
      [1, null],
      [300, 'pending'],
      [20, null],
      [1, 'success'],
      [20, 'pending'],
      [1, null],
      [4, 'failure'],
      [300, null],
      [4, 'refund_success'],
      [20, 'refund_pending'],
    ] as const
    const ids: string[] = []
    for (const [n, [chainId, state]] of rows.entries()) {
      const { id } = await indexed(store, { chainId, txHash: hash(n) })
      if (state !== null) await store.transaction((tx) => setStatus(tx, id, getStatus(2, { state })))
      ids.push(id)
    }
    await store.transaction((tx) => tx.upsertPayments([{ facts: facts({ chainId: 5 }), primary: false }]))
    const found = async (chainId: number, more: { afterId?: string; limit?: number } = {}) =>
      (await store.payments.listUnsettled({ chainId, limit: 10, ...more })).map(({ id }) => ids.indexOf(id))
    expect(await found(1)).toEqual([0, 5])
    expect(await found(20)).toEqual([2, 4, 9])
    expect(await found(300)).toEqual([1, 7])
    expect(await found(300, { limit: 1 })).toEqual([1])
    expect(await found(300, { afterId: ids[1] ?? '' })).toEqual([7])
    expect([await found(4), await found(5), await found(6)]).toEqual([[], [], []])
    expect(await store.payments.unsettledChains()).toEqual([1, 20, 300])
  })

  test('statuses of many payments are written at once', async ({ store }) => {
    const count = 600
    const given = numbered(count)
    const { inserted } = await store.transaction((tx) => tx.upsertPayments(given))
    const getState = (n: number) => (n % 2 === 0 ? 'pending' : 'success')
    const statuses = new Map(inserted.map(({ id }, n) => [id, getStatus(2, { state: getState(n) })]))
    await store.transaction((tx) => tx.setStatuses(statuses))
    const selectors = given.map((one) => ({ chainId: one.facts.chainId, txHash: one.facts.txHash }))
    const stored = await store.transaction((tx) => tx.paymentsForChange(...selectors))
    const shown = stored.map(({ id, version, state, recipient, invoice }) => [
      id,
      { version, state, recipient, invoice },
    ])
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(statuses))
    expect(await store.payments.listUnsettled({ chainId: 1, limit: count })).toHaveLength(count / 2)
  })

  test('a snapshot is kept byte for byte, and its (payment, version) cannot be stored twice', async ({ store }) => {
    const payment = await indexed(store)
    const { id } = payment
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const insert = (version: number, bytes: Uint8Array) =>
      store.transaction((tx) => tx.insertSnapshots([makeSnapshot(payment, version, bytes)]))
    await insert(2, body)
    await expect(insert(2, new Uint8Array(1))).rejects.toThrow()
    expect(await store.payments.snapshot(id, 2)).toEqual(body)
    expect(await store.payments.snapshot(id, 3)).toBeNull()
    expect(await store.payments.snapshot('987654321', 1)).toBeNull()
  })
}

/** Every fact that the block decides, different from the default. */
const elsewhere = {
  logIndex: 3,
  blockNumber: 105,
  blockHash: hash(0xb105),
  blockTimestamp: 1_700_000_060_000,
  router: { address: address(0xa1), version: '0.9' },
  sender: address(0xbad),
  receiver: address(0xbae),
  memoHex: hash(0xbad),
  source: { chainId: 11, txHash: hash(0x51) },
  tokenIn: { address: address(0x12), symbol: null, decimals: 8, amount: largest },
  tokenOut: { address: address(0x13), symbol: '', decimals: 0, gross: largest, net: 0n },
  pricing: {
    listedToken: null,
    feeds: [{ use: 'divide', contract: null, pair: { base: 'BRL', quote: 'USD' }, rate: 2n ** 64n + 1n, decimals: 18 }],
    calledAmount: largest - 1n,
    serviceFee: 2n ** 53n + 1n,
  },
} satisfies Partial<PaymentFacts>

/** The same, one value at a time, each with its name. */
function singleChanges(): [string, Partial<PaymentFacts>][] {
  return Object.entries(elsewhere).flatMap(([name, value]): [string, Partial<PaymentFacts>][] => {
    const before = facts()[name as keyof PaymentFacts]
    if (typeof value !== 'object' || typeof before !== 'object') return [[name, { [name]: value }]]
    return Object.entries(value).map(([part, now]) => [`${name}.${part}`, { [name]: { ...before, [part]: now } }])
  })
}
