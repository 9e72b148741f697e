/** Tests: leases. @module */
import { expect } from 'vitest'
import { lastingLeaseMs, passTime, type StoreSubject, type StoreTest, withAnother } from './subject.js'

const name = 'indexer:1'
export function leaseTests(test: StoreTest): void {
  test('a lease has one holder, who may prolong it', async (subject) => {
    const { leases } = subject.store
    const ttlMs = lastingLeaseMs(subject)
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(false)
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(true)
    expect(await leases.acquire({ name: 'indexer:10', holder: 'b', ttlMs })).toBe(true)
  })

  test('a lease that ended goes to the next who asks, and no longer to the one who had it', async (subject) => {
    const { leases } = subject.store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 100 })).toBe(true)
    const ttlMs = lastingLeaseMs(subject)
    await passTime(subject, 100, () => leases.acquire({ name, holder: 'b', ttlMs }))
    expect(await leases.acquire({ name, holder: 'a', ttlMs })).toBe(false)
  })

  test('a lease that ends later than any lease lasts has ended: a clock that was ahead took it', async (subject) => {
    const { leases } = subject.store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 3_600_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 3_600_000 })).toBe(false)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 15_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 15_000 })).toBe(false)
  })

  test('the longest lease is kept while a clock steps back by less than a minute beneath it', async (subject) => {
    const { leases } = subject.store
    const longestMs = 600_000
    expect(await leases.acquire({ name, holder: 'a', ttlMs: longestMs + 59_000 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 15_000 })).toBe(false)
  })

  test('one who asks again holds the lease from then on', async (subject) => {
    const { leases } = subject.store
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 50 })).toBe(true)
    expect(await leases.acquire({ name, holder: 'a', ttlMs: 60_000 })).toBe(true)
    await timePasses(subject, 51)
    expect(await leases.acquire({ name, holder: 'b', ttlMs: 1 })).toBe(false)
  })

  test('only its holder releases a lease', async (subject) => {
    const { leases } = subject.store
    const ttlMs = lastingLeaseMs(subject)
    await leases.acquire({ name, holder: 'a', ttlMs })
    await leases.release({ name, holder: 'b' })
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(false)
    await leases.release({ name, holder: 'a' })
    await leases.release({ name, holder: 'a' })
    expect(await leases.acquire({ name, holder: 'b', ttlMs })).toBe(true)
  })

  test('leases are listed by name with their remaining time, until they are released', async (subject) => {
    const { leases } = subject.store
    const ttlMs = lastingLeaseMs(subject)
    await leases.acquire({ name: 'b', holder: 'first', ttlMs })
    await leases.acquire({ name: 'a', holder: 'second', ttlMs: 50 })
    await timePasses(subject, 51)
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

  test('names and holders may be any text', async (subject) => {
    const { leases } = subject.store
    const ttlMs = lastingLeaseMs(subject)
    for (const text of ['', 'a\u0000', 'a\ud800', `'" %`]) {
      expect(await leases.acquire({ name: text, holder: text, ttlMs })).toBe(true)
      expect(await leases.acquire({ name: text, holder: `${text} `, ttlMs })).toBe(false)
    }
  })

  test('of twelve concurrent requests on two stores one gets the lease, and again when it has ended', async (subject) => {
    await withAnother(subject, async (stores) => {
      const ttlMs = lastingLeaseMs(subject)
      for (let round = 0; round < 10; round += 1) {
        const ended = `ended ${round}`
        await endedLease(subject, ended)
        for (const each of [`new ${round}`, ended]) {
          const asked = Array.from({ length: 12 }, (_, n) =>
            stores[n % 2]?.leases.acquire({ name: each, holder: `holder ${n}`, ttlMs }),
          )
          expect((await Promise.all(asked)).filter(Boolean), each).toHaveLength(1)
        }
      }
    })
  })
}

/** Stores a lease that has ended. */
async function endedLease(subject: StoreSubject, ended: string): Promise<void> {
  const { leases } = subject.store
  expect(await leases.acquire({ name: ended, holder: 'gone', ttlMs: 1 })).toBe(true)
  await passTime(subject, 1, () => leases.acquire({ name: ended, holder: 'gone too', ttlMs: 1 }))
  // Without a movable clock this also waits for the end of the second lease.
  await timePasses(subject, 2)
}

async function timePasses(subject: StoreSubject, ms: number): Promise<void> {
  const started = performance.now()
  await passTime(subject, ms, async () => subject.advanceClock !== undefined || performance.now() - started > ms)
}
