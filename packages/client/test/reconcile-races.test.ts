import { createMemoryVersionStore, type VersionStore } from '@payment-integration/version-store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReconcileCheckpoint, type Reconciliation, reconcile } from '../src/exports/index.js'
import { catchError } from './fixtures.js'
import { findTime, startService } from './service.js'
import { getNumber, openShop, range, startShop } from './shop.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** Asserts that no effect repeats and that versions only rise. */
function checkEffects(effects: readonly string[]): void {
  const newest = new Map<string, number>()
  for (const effect of effects) {
    const [n = '', version = ''] = effect.split('@')
    expect(Number(version), `${effect} among ${effects}`).toBeGreaterThan(newest.get(n) ?? 0)
    newest.set(n, Number(version))
  }
}

test('a delivery that is newer than the page stays, and the older version of the page changes nothing', async () => {
  await using shop = await startShop(3)
  const handle = async (snapshot: Parameters<typeof shop.handle>[0]) => {
    await shop.handle(snapshot)
    if (getNumber(snapshot.txHash) !== 0) return
    // The page is read, but payment 2 is not compared yet.
    await shop.service.update(2, 'success')
    await shop.deliver(await shop.snapshot(2))
  }
  const found = await shop.reconcile({ handle })
  expect(shop.effects).toEqual(['0@1', '2@2', '1@1'])
  expect(found).toMatchObject({ repaired: 2, newer: 1, missing: { count: 2 } })
})

test('a delivery between the comparison and the transaction wins and does not count as repaired', async () => {
  await using shop = await startShop(2)
  await shop.service.update(1, 'success')
  const [same, newer] = [await shop.snapshot(0), await shop.snapshot(1)]
  const from: VersionStore<undefined> = {
    current: async (key) => {
      const stored = await shop.store.current(key)
      await shop.deliver(getNumber(key.txHash) === 0 ? same : { ...newer, version: 3 })
      return stored
    },
    advance: shop.store.advance,
  }
  expect(await shop.reconcile({ from })).toMatchObject({ repaired: 0, newer: 1, missing: { count: 0 } })
  expect(shop.effects).toEqual(['0@1', '1@3'])
})

test('payments indexed or moved while pages are read are handled once, by this run or the next', async () => {
  await using shop = await startShop(10)
  shop.service.beforeEachAnswer(async (request) => {
    if (request === 2) await shop.service.index(-1, -2)
    if (request === 3) await shop.service.move(9, new Date(findTime(-3).getTime()))
    if (request === 4) await shop.service.move(0, new Date(findTime(9).getTime() + 1))
  })
  const { checkpoint } = await shop.reconcile({ until: 'end', pageSize: 2 })
  shop.service.beforeEachAnswer(async () => undefined)
  await shop.reconcile({ checkpoint, pageSize: 2, overlapMs: 0 })
  expect(shop.effects.toSorted()).toEqual([...range(10).map((n) => `${n}@1`), '-1@1', '-2@1'].toSorted())
})

/** Simulates a crash before or after the `at`th operation on the store. */
function crashingStore(store: VersionStore<undefined>, at: number, when: 'before' | 'after'): VersionStore<undefined> {
  let operations = 0
  async function operate<T>(work: () => Promise<T>): Promise<T> {
    operations += 1
    const crashes = operations === at
    if (crashes && when === 'before') throw new Error('crash')
    const result = await work()
    if (crashes) throw new Error('crash')
    return result
  }
  return {
    current: (key) => operate(() => store.current(key)),
    advance: (payment, effect) => operate(() => store.advance(payment, effect)),
  }
}

test.each(['before', 'after'] as const)(
  'a crash %s any operation of the store loses nothing and repeats nothing',
  async (when) => {
    await using service = await startService()
    await service.index(...range(4))
    await service.update(1, 'success')
    const client = service.client()
    // Two operations for each missing payment: `current` and `advance`.
    for (let at = 1; at <= 8; at += 1) {
      const shop = openShop(service, client)
      let kept: ReconcileCheckpoint | null = null
      const onCheckpoint = (next: ReconcileCheckpoint) => {
        kept = next
      }
      const options = { until: 'end', pageSize: 2, onCheckpoint } as const
      const from = crashingStore(shop.store, at, when)
      expect(await catchError(shop.reconcile({ ...options, from }))).toMatchObject({ message: 'crash' })
      const found = await shop.reconcile({ ...options, checkpoint: kept })
      expect(shop.effects.toSorted(), `crash ${when} operation ${at}`).toEqual(['0@1', '1@2', '2@1', '3@1'])
      expect(found.checkpoint.coveredTo).toBe(findTime(0).toISOString())
      expect((await shop.reconcile({ until: 'end' })).repaired).toBe(0)
    }
  },
)

test(`lost, repeated, reordered and moved deliveries leave the store at the service's versions (seed ${seed})`, async () => {
  await using service = await startService()
  await service.index(...range(12))
  const step = fc.record({
    act: fc.constantFrom('update', 'deliver', 'lose', 'repeat', 'index', 'move', 'reconcile', 'reject'),
    n: fc.nat(11),
    atRequest: fc.nat(3),
  })
  let newest = 0
  const ladder = ['pending', 'success', 'refund_pending', 'refund_failure', 'refund_success'] as const
  const heights = new Map<number, number>()
  /** Moves a payment to its next state, up to the last. */
  async function advance(n: number): Promise<void> {
    const height = heights.get(n) ?? 0
    const state = ladder[height]
    if (state !== undefined) await service.update(n, state)
    heights.set(n, height + 1)
  }
  const client = service.client()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const shop = openShop(service, client)
      let late = await shop.snapshot(0)
      let checkpoint: ReconcileCheckpoint | null = null
      for (const { act, n, atRequest } of steps) {
        if (act === 'update') await advance(n)
        if (act === 'deliver') await shop.deliver(await shop.snapshot(n)).catch(() => undefined)
        if (act === 'lose') late = await shop.snapshot(n)
        if (act === 'repeat') await shop.deliver(late).catch(() => undefined)
        if (act === 'index') {
          newest -= 1
          await service.index(newest)
        }
        if (act === 'move') await service.move(n, findTime(newest - 0.5))
        if (act === 'reject') shop.reject.add(n)
        if (act !== 'reconcile') continue
        let request = 0
        service.beforeEachAnswer(async () => {
          request += 1
          if (request === atRequest) await shop.deliver(late).catch(() => undefined)
        })
        const found: Reconciliation = await shop.reconcile({ pageSize: 3, maxPages: 3, checkpoint })
        service.beforeEachAnswer(async () => undefined)
        checkpoint = found.checkpoint
      }
      shop.reject.clear()
      await shop.reconcile({ until: 'end', pageSize: 5 })
      checkEffects(shop.effects)
      for await (const payment of client.payments.iterate({ pageSize: 200 })) {
        expect(await shop.store.current(payment)).toBe(payment.version)
        expect(shop.effects).toContain(`${getNumber(payment.txHash)}@${payment.version}`)
      }
    }),
    // The service keeps its state between cases, so shrinking would test another case.
    { seed, numRuns: 25, endOnFailure: true },
  )
})

test('a synchronous handler runs synchronously in the transaction of the store', async () => {
  await using service = await startService()
  await service.index(0, 1)
  const returned: unknown[] = []
  const inner = createMemoryVersionStore()
  const from: VersionStore<undefined> = {
    current: inner.current,
    advance: (payment, effect) =>
      inner.advance(payment, (tx) => {
        const pending = effect(tx)
        returned.push(pending)
        return pending
      }),
  }
  const client = service.client()
  await reconcile(client, { from, handle: () => undefined })
  expect(returned).toEqual([undefined, undefined])
  const rejected = await openShop(service).reconcile({
    handle() {
      throw new Error('at once')
    },
  })
  expect(rejected.failed).toMatchObject({ count: 2, samples: [{ error: new Error('at once') }, {}] })
})
