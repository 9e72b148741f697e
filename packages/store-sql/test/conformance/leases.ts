/** Tests: leases. @module */
import { expect } from 'vitest'
import type { StoreTest } from './subject.js'

const name = 'indexer:1'
export function leaseTests(test: StoreTest): void {
  test('a lease has one holder, who may prolong it', async ({ store, lastingLeaseMs: ttlMs }) => {
    const { leases } = store
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(false)
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(true)
    expect(await leases.acquire({ name: 'indexer:10', holder: 'b', ttlMs })).toBe(true)
  })

  test('a lease that ended goes to the next who asks', async ({ store, passTime, lastingLeaseMs: ttlMs }) => {
    const { leases } = store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 100 })).toBe(true)
    await passTime(100, () => leases.acquire({ name, holder: 'b', ttlMs }))
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(false)
  })

  test('a lease that ends later than any lease lasts has ended: a clock that was ahead took it', async ({ store }) => {
    const { leases } = store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 3_600_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 3_600_000 })).toBe(false)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 15_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 15_000 })).toBe(false)
  })

  test('the longest lease is kept while a clock steps back by less than a minute beneath it', async ({ store }) => {
    const { leases } = store
    const longestMs = 600_000
    expect(await leases.acquire({ name, holder: 'a', ttlMs: longestMs + 59_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 15_000 })).toBe(false)
  })

  test('one who asks again holds the lease from then on', async ({ store, passTime }) => {
    const { leases } = store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 50 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 60_000 })).toBe(true)
    await passTime(51)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 1 })).toBe(false)
  })

  test('only its holder releases a lease', async ({ store, lastingLeaseMs: ttlMs }) => {
    const { leases } = store
    await leases.acquire({ name, holder: 'a', ttlMs })
    await leases.release({ name, holder: 'b' })
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(false)
    await leases.release({ name, holder: 'a' })
    await leases.release({ name, holder: 'a' })
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(true)
  })

  test('unreleased leases are listed by name with their time', async ({ store, passTime, lastingLeaseMs: ttlMs }) => {
    const { leases } = store
    await leases.acquire({ name: 'b', holder: 'first', ttlMs })
    await leases.acquire({ name: 'a', holder: 'second', ttlMs: 50 })
    await passTime(51)
    await leases.acquire({ name: 'c', holder: 'third', ttlMs })
    await leases.release({ name: 'c', holder: 'third' })
    const [ended, lasting, ...others] = await leases.list()
    expect([ended, lasting]).toMatchObject([
      { name: 'a', holder: 'second' },
      { name: 'b', holder: 'first' },
    ])
    expect(ended?.endsInMs).toBeLessThanOrEqual(0)
    expect(lasting?.endsInMs).toBeGreaterThan(0)
    expect(lasting?.endsInMs).toBeLessThanOrEqual(ttlMs)
    expect(others).toEqual([])
  })

  test('names and holders may be any text', async ({ store, lastingLeaseMs: ttlMs }) => {
    const { leases } = store
    for (const text of ['', 'a\u0000', 'a\ud800', `'" %`]) {
      expect(await leases.acquire({ name: text, holder: text, ttlMs })).toBe(true)
      expect(await leases.acquire({ name: text, holder: `${text} `, ttlMs })).toBe(false)
    }
  })

  test('of twelve requests at once one gets a new or ended lease', async ({ twoStores, passTime, lastingLeaseMs }) => {
    const stores = await twoStores()
    const [{ leases }] = stores
    for (let round = 0; round < 10; round += 1) {
      const ended = `ended ${round}`
      const gone = { name: ended, ttlMs: 1 }
      expect(await leases.acquire({ ...gone, holder: 'gone' })).toBe(true)
      await passTime(1, () => leases.acquire({ ...gone, holder: 'gone too' }))
      await passTime(2)
      for (const each of [`new ${round}`, ended]) {
        const asked = Array.from({ length: 12 }, (_, n) =>
          stores[n % 2]?.leases.acquire({ name: each, holder: `holder ${n}`, ttlMs: lastingLeaseMs }),
        )
        expect((await Promise.all(asked)).filter(Boolean), each).toHaveLength(1)
      }
    }
  })
}
