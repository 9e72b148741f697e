/** Calls that wait behind an effect that takes long, or never ends. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSqliteVersionStore, type SqliteVersionStoreOptions } from '../src/exports/sqlite.js'
import { drivers, type TestDatabase } from './drivers.js'
import { busy, createSleep, hold, nothing, other, payment, unwanted } from './payment.js'

/** A store whose clock stands still, and whose waits end when the test says so. */
function setUp(options: Partial<SqliteVersionStoreOptions<TestDatabase>> = {}) {
  const database = drivers[0].open(':memory:')
  onTestFinished(() => database.close())
  const { waits, sleep } = createSleep()
  return { waits, store: createSqliteVersionStore({ database, clock: { now: () => 0, sleep }, ...options }) }
}

test('behind an effect that does not end, every call is ERR_VERSION_STORE_BUSY after 3 seconds, and never runs', async () => {
  const { store, waits } = setUp()
  const { delivery, release } = await hold(store)
  const calls = [store.advance(payment, unwanted), store.advance(other, unwanted), store.current(payment)]
  const outcomes = Promise.allSettled(calls)
  expect(waits.map(({ ms }) => ms)).toEqual([3000, 3000, 3000])
  for (const { end } of waits) end()
  const rejection = { status: 'rejected', reason: { ...busy, waitedFor: 'effect' } }
  expect(await outcomes).toMatchObject([rejection, rejection, rejection])

  release()
  expect(await delivery).toBe('apply')
  expect(await store.advance(payment, unwanted)).toBe('duplicate')
  expect(await store.advance(other, nothing)).toBe('apply')
})

test('the line and the lock are waited for together no longer than busyTimeoutMs', async () => {
  let time = 0
  const sleeps: number[] = []
  let locked = true
  const exec = (sql: string) => {
    if (sql === 'BEGIN IMMEDIATE' && time >= 80 && locked) throw new Error('database is locked')
  }
  const database = { exec, prepare: () => ({ get: nothing, run: nothing, all: () => [] }) }
  const store = createSqliteVersionStore({
    database,
    busyTimeoutMs: 100,
    clock: {
      now: () => time,
      async sleep(ms, signal) {
        sleeps.push(ms)
        if (signal === undefined) time += ms
        else await new Promise((end) => signal.addEventListener('abort', end))
      },
    },
  })
  const { delivery, release } = await hold(store)
  const next = store.advance(other, unwanted)
  await Promise.resolve()
  time = 80
  release()
  await delivery
  await expect(next).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY', waitedFor: 'lock' })
  expect(sleeps).toEqual([100, 10, 10])
  locked = false
  expect(await store.advance(other, nothing)).toBe('apply')
})

test('by the system clock, a call of its own store that an effect makes after it waited ends too', async () => {
  const { store } = setUp({ busyTimeoutMs: 20, clock: undefined })
  const call = store.advance(payment, async () => {
    await Promise.resolve()
    await store.current(other)
  })
  await expect(call).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY', waitedFor: 'effect' })
  expect(await store.current(payment)).toBeUndefined()
})

test('a call whose turn comes in time leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { store } = setUp({ clock: undefined })
  const { delivery, release } = await hold(store)
  const next = store.advance(other, nothing)
  expect(vi.getTimerCount()).toBe(1)
  release()
  expect([await delivery, await next]).toEqual(['apply', 'apply'])
  expect(vi.getTimerCount()).toBe(0)
})
