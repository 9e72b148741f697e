/** Tests: payments, updates and changes as the console reads them. @module */
import type { ConsolePosition } from '@payment-integration/core/internal'
import type { Store, StoredPayment } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import type { StoreTest } from './subject.js'

const { address, decided, epoch, getStatus, hash, indexed, insertUpdate, integration, lockPayment } = fixtures
const { nextVersion, otherShop, primary, setStatus, shop, update, waiting } = fixtures

const minute = 60_000
const memo = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`

/** Seven payments, one a minute: on two chains, of two integrations and of none. */
async function sevenPayments(store: Store): Promise<void> {
  await fixtures.insertIntegration(store)
  const own = [
    {},
    { chainId: 10 },
    { integrationAddress: otherShop },
    { integrationAddress: null },
    { memoHex: memo('order-7') },
    { memoHex: memo('order-71'), sender: address(0x77) },
    { source: { chainId: 10, txHash: hash(0x77) } },
  ]
  for (const [n, changes] of own.entries())
    await indexed(store, { txHash: hash(n + 1), blockTimestamp: epoch + n * minute, ...changes })
}

const setState = (
  store: Store,
  n: number,
  state: 'failure' | 'success' | 'pending',
  amount = '25.00',
  currency = 'EUR',
) =>
  store.transaction(async (tx) => {
    const { id } = await lockPayment(tx, hash(n))
    const invoice = { amount, currency, settlementAmount: '27', settlementCurrency: 'USD' }
    await setStatus(tx, id, getStatus(2, { state, invoice }))
  })

const numbers = (rows: readonly { readonly txHash: string }[]) => rows.map(({ txHash }) => Number(BigInt(txHash)))
export function consolePaymentTests(test: StoreTest): void {
  test('payments of all integrations are listed newest first, by every field of a filter', async ({ store }) => {
    await sevenPayments(store)
    await setState(store, 1, 'failure')
    await setState(store, 3, 'success', '30')
    await setState(store, 6, 'failure', '30')
    const list = async (filter: Omit<Parameters<Store['console']['payments']>[0], 'limit'>) =>
      numbers((await store.console.payments({ ...filter, limit: 10 })).rows)
    expect(await list({})).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(await list({ chainId: 10 })).toEqual([2])
    expect(await list({ integrationAddress: otherShop })).toEqual([3])
    expect(await list({ integrationAddress: null })).toEqual([4])
    expect(await list({ state: 'failure' })).toEqual([6, 1])
    expect(await list({ state: 'success' })).toEqual([3])
    expect(await list({ state: null })).toEqual([7, 5, 4, 2])
    expect(await list({ state: 'failure', integrationAddress: shop, chainId: 1 })).toEqual([6, 1])
    expect(await list({ state: 'refund_pending' })).toEqual([])
    expect(await list({ since: epoch + 5 * minute })).toEqual([7, 6])
    expect(await list({ until: epoch + minute })).toEqual([1])
    expect(await list({ state: 'failure', since: epoch + 1 })).toEqual([6])
    const [since, until] = [epoch + minute, epoch + 5 * minute]
    expect(await list({ since, until })).toEqual([5, 4, 3, 2])
    expect(await list({ since, until, integrationAddress: shop })).toEqual([5, 2])
    expect(await list({ since, until, integrationAddress: null })).toEqual([4])
    expect(await list({ since, until, integrationAddress: shop, chainId: 10 })).toEqual([2])
    expect(await list({ since, until: until + minute, state: 'failure' })).toEqual([6])
    expect(await list({ state: 'success', integrationAddress: otherShop })).toEqual([3])
    expect(await list({ invoice: { amount: '30' } })).toEqual([6, 3])
    expect(await list({ memo: memo('order-7').slice(0, 16) })).toEqual([6, 5])
    expect(await list({ integrationAddress: otherShop, memo: memo('order-7').slice(0, 16) })).toEqual([])
    expect(await list({ invoice: { amount: '30', currency: 'USD' } })).toEqual([])
    expect(await list({ invoice: { amount: '25.00', currency: 'EUR' } })).toEqual([1])
  })

  test('a payment that was mined again is listed at its new time, by its state too', async ({ store }) => {
    await sevenPayments(store)
    for (const n of [1, 5]) await setState(store, n, 'failure')
    const moved = primary({ txHash: hash(1), blockTimestamp: epoch + 10 * minute, blockNumber: 200 })
    await store.transaction((tx) => tx.upsertPayments([moved]))
    const list = async (filter: object) => numbers((await store.console.payments({ ...filter, limit: 2 })).rows)
    expect(await list({})).toEqual([1, 7])
    expect(await list({ state: 'failure' })).toEqual([1, 5])
    expect(await list({ state: 'failure', since: epoch + 9 * minute })).toEqual([1])
    expect(await list({ state: 'failure', until: epoch + 9 * minute })).toEqual([5])
  })

  test('an invoice is found by its whole amount and currency, whatever characters they have', async ({ store }) => {
    await sevenPayments(store)
    const invoices = [
      ['1","EUR', 'USD'],
      ['1', 'EUR","USD'],
      ['x[', ',y'],
      [',', '"'],
      ['💶\\', '€'],
    ] as const
    const numbered = [1, 3, 4, 5, 6].map((n, place) => [n, ...(invoices[place] ?? ['', ''])] as const)
    for (const [n, amount, currency] of numbered) await setState(store, n, 'success', amount, currency)
    const list = async (amount: string, currency?: string) =>
      numbers((await store.console.payments({ invoice: { amount, currency }, limit: 10 })).rows)
    for (const [n, amount, currency] of numbered) {
      expect(await list(amount)).toEqual([n])
      expect(await list(amount, currency)).toEqual([n])
      expect(await list(amount, `${currency}"`)).toEqual([])
    }
    for (const amount of ['', '[', '"', 'EUR', 'x', '💶', '27']) expect(await list(amount)).toEqual([])
    expect(await list('1', 'EUR')).toEqual([])
  })

  test('the pages of a listing have each payment once', async ({ store }) => {
    await sevenPayments(store)
    for (const filter of [
      {},
      { integrationAddress: shop },
      { chainId: 1 },
      { state: null },
      { since: epoch + minute, until: epoch + 6 * minute },
      { integrationAddress: shop, until: epoch + 6 * minute },
    ]) {
      const whole = numbers((await store.console.payments({ ...filter, limit: 10 })).rows)
      const walked: number[] = []
      let before: ConsolePosition | undefined
      for (let pages = 0; pages < 10; pages += 1) {
        const page = await store.console.payments({ ...filter, before, limit: 2 })
        walked.push(...numbers(page.rows))
        expect(page.isCut).toBe(false)
        if (page.next === null) break
        before = page.next
      }
      expect(walked).toEqual(whole)
    }
  })

  test('payments of two integrations in one transaction are each listed once, to their own', async ({ store }) => {
    for (const [ordinal, integrationAddress] of [shop, otherShop, null].entries())
      await indexed(store, { integrationAddress, ordinal, logIndex: ordinal })
    const owners = (rows: readonly StoredPayment[]) => rows.map((each) => each.integrationAddress)
    const newestFirst = [null, otherShop, shop]
    for (const integrationAddress of newestFirst) {
      const { rows } = await store.console.payments({ integrationAddress, limit: 10 })
      expect(owners(rows)).toEqual([integrationAddress])
    }
    for (const filter of [{}, { state: null }, { since: epoch, until: epoch + 1 }, { chainId: 1 }] as const) {
      expect(owners((await store.console.payments({ ...filter, limit: 10 })).rows)).toEqual(newestFirst)
      const first = await store.console.payments({ ...filter, limit: 1 })
      const second = await store.console.payments({ ...filter, limit: 1, before: first.next ?? undefined })
      const third = await store.console.payments({ ...filter, limit: 1, before: second.next ?? undefined })
      expect(owners([...first.rows, ...second.rows, ...third.rows])).toEqual(newestFirst)
      expect(third.next).toBeNull()
    }
  })

  test('payments are searched by hash, source hash, memo and wallet', async ({ store }) => {
    await sevenPayments(store)
    const search = async (...given: Parameters<Store['console']['search']>) =>
      numbers(await store.console.search(...given)).sort()
    expect(await search({ kind: 'hash', txHash: hash(3) }, 10)).toEqual([3])
    expect(await search({ kind: 'hash', txHash: hash(0x77) }, 10)).toEqual([7])
    expect(await search({ kind: 'hash', txHash: hash(9) }, 10)).toEqual([])
    expect(await search({ kind: 'memo', prefix: memo('order-71') }, 10)).toEqual([6])
    expect(await search({ kind: 'memo', prefix: `0x${Buffer.from('order-7').toString('hex')}` }, 10)).toEqual([5, 6])
    const wallet = address(0x77)
    expect(await search({ kind: 'wallet', wallet, integrationAddress: shop }, 10)).toEqual([6])
    expect(await search({ kind: 'wallet', wallet, integrationAddress: otherShop }, 10)).toEqual([])
  })

  test('a wallet without an integration is searched among all of them, newest first', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    await sevenPayments(store)
    const wallet = address(0x88)
    for (const [n, changes] of [{ sender: wallet }, { receiver: wallet, integrationAddress: otherShop }].entries())
      await indexed(store, { txHash: hash(n + 10), blockTimestamp: epoch + (n + 10) * minute, ...changes })
    const search = async (limit: number) => numbers(await store.console.search({ kind: 'wallet', wallet }, limit))
    expect(await search(10)).toEqual([11, 10])
    expect(await search(1)).toEqual([11])
    expect(await store.console.search({ kind: 'wallet', wallet: address(0x99) }, 10)).toEqual([])
  })

  test('payments are read by their ids; unknown ones are left out', async ({ store }) => {
    const payment = await indexed(store)
    expect(await store.console.paymentsById([payment.id, '987654'])).toEqual([payment])
    expect(await store.console.paymentsById([])).toEqual([])
  })

  test('updates of a payment are read in the order received, a rejected one with its content', async ({ store }) => {
    const [own, other] = [await indexed(store), await indexed(store, { txHash: hash(2) })]
    const rejected = update({ id: 'u1', state: 'failure' })
    await store.transaction(async (tx) => {
      await insertUpdate(tx, waiting({ id: 'u3' }))
      await insertUpdate(tx, decided(own, { update: update({ id: 'u2' }), version: 2 }))
      await insertUpdate(tx, decided(own, { update: rejected, outcome: 'rejected', reason: 'because' }))
      await insertUpdate(tx, decided(own, { update: update({ id: 'u0' }), outcome: 'unchanged' }))
      await insertUpdate(tx, decided(other, { update: update({ id: 'u4' }) }))
    })
    const updates = (limit: number) => store.console.updates({ paymentIds: [own.id], limit })
    const expected = [
      { id: 'u2', outcome: 'applied', reason: null, version: 2, update: null },
      { id: 'u1', outcome: 'rejected', reason: 'because', version: 1, update: rejected },
      { id: 'u0', outcome: 'unchanged', reason: null, version: 1, update: null },
    ]
    expect(await updates(10)).toStrictEqual(expected)
    expect(await updates(2)).toStrictEqual(expected.slice(0, 2))
    const settled = { id: 'u3', paymentId: own.id, outcome: 'unchanged', reason: null, version: 2 } as const
    await store.transaction((tx) => tx.settleUpdates([settled]))
    expect((await updates(10)).map(({ id }) => id)).toEqual(['u3', 'u2', 'u1', 'u0'])
    expect(await store.console.updates({ paymentIds: ['987654'], limit: 10 })).toEqual([])
  })

  test('payments are counted by minute and state', async ({ store }) => {
    await sevenPayments(store)
    await setState(store, 1, 'failure')
    await indexed(store, { txHash: hash(0x20), blockTimestamp: epoch + 6 * minute + 1 })
    const start = epoch - (epoch % minute)
    const all = await store.console.paymentsPerMinute({ since: 0, limit: 100 })
    expect(all.isCut).toBe(false)
    expect(all.counts).toHaveLength(7)
    expect(all.counts[0]).toEqual({ minute: start, kind: 'failure', count: 1 })
    expect(all.counts[6]).toEqual({ minute: start + 6 * minute, kind: null, count: 2 })
    const newest = await store.console.paymentsPerMinute({ since: 0, limit: 3 })
    expect(newest).toEqual({
      counts: [
        { minute: start + 5 * minute, kind: null, count: 1 },
        { minute: start + 6 * minute, kind: null, count: 2 },
      ],
      isCut: true,
    })
  })

  test('the volume of a minute is the exact sum of invoices of successes, by currency', async ({ store }) => {
    await sevenPayments(store)
    await indexed(store, { txHash: hash(0x20), blockTimestamp: epoch + 1 })
    await setState(store, 1, 'success', '0.1')
    await setState(store, 0x20, 'success', '0.20', 'EUR')
    await setState(store, 4, 'success', '9007199254740993.000000000000000001', 'USD')
    await setState(store, 5, 'failure', '7')
    const start = epoch - (epoch % minute)
    const eur = { minute: start, kind: 'EUR', count: 2, amount: '0.30' }
    const usd = { minute: start + 3 * minute, kind: 'USD', count: 1, amount: '9007199254740993.000000000000000001' }
    const volume = (limit: number) => store.console.volumePerMinute({ since: 0, limit })
    expect(await volume(100)).toEqual({ counts: [eur, usd], isCut: false })
    expect(await volume(4)).toEqual({ counts: [usd], isCut: true })
  })

  test('the newest rows name the payments that are new, changed or updated', async ({ store }) => {
    await fixtures.insertIntegration(store)
    expect(await store.console.newest(10)).toEqual({ payments: [], deliveries: [], updates: [] })
    const first = await indexed(store)
    const second = await indexed(store, { txHash: hash(2) })
    await nextVersion(store, first)
    await store.transaction(async (tx) => {
      await insertUpdate(tx, decided(first, { outcome: 'rejected', reason: 'no' }))
      await insertUpdate(tx, waiting({ id: 'u2', txHash: hash(3) }))
    })
    const { payments, deliveries, updates } = await store.console.newest(10)
    expect(payments).toEqual([second.id, first.id])
    expect(deliveries.map(({ paymentId }) => paymentId)).toEqual([first.id, second.id, first.id])
    expect(updates.map(({ paymentId }) => paymentId)).toEqual([null, first.id])
    const named = await store.console.deliveriesById(deliveries.map(({ deliveryId }) => deliveryId))
    expect(named.map(({ version }) => version)).toEqual([1, 1, 2])
    expect(await store.console.newest(1)).toEqual({
      payments: payments.slice(0, 1),
      deliveries: deliveries.slice(0, 1),
      updates: updates.slice(0, 1),
    })
  })
}
