import { expect, test } from 'vitest'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { start } from '../../test/support/until.js'
import { createLease, type LeaseDeps } from './lease.js'

/** Two holders that want one lease of 900 ms, on a store that records the calls. */
function setUp() {
  const clock = manualClock()
  const stored = openStore({ clock }).leases
  const requests: string[] = []
  const failures: Error[] = []
  const leases: LeaseDeps['leases'] = {
    ...stored,
    async acquire(lease) {
      requests.push(lease.holder)
      const failure = failures.shift()
      if (failure) throw failure
      return stored.acquire(lease)
    },
  }
  const others: string[] = []
  const onOtherHolder = (other: { readonly holder: string }) => others.push(other.holder)
  const wanted = (holder: string) =>
    createLease({ leases, clock, name: 'indexer:1', holder, ttlMs: 900, onOtherHolder })
  return { clock, others, requests, failures, ours: wanted('ours'), theirs: wanted('theirs') }
}

test('one holder has it until it ends, then the other may take it', async () => {
  const { clock, ours, theirs } = setUp()
  expect(ours.isActive()).toBe(false)
  expect(await ours.ensure()).toBe(true)
  expect(await theirs.ensure()).toBe(false)
  expect([ours.isActive(), theirs.isActive()]).toEqual([true, false])
  await clock.advance(899)
  expect(ours.isActive()).toBe(true)
  await clock.advance(1)
  expect(ours.isActive()).toBe(false)
  expect(await theirs.ensure()).toBe(true)
  expect(await ours.ensure()).toBe(false)
})

test('a process that stands by is told of the holder once a minute', async () => {
  const { clock, others, ours, theirs } = setUp()
  for (let round = 0; round < 200; round += 1) {
    await ours.ensure()
    expect(await theirs.ensure()).toBe(false)
    await clock.advance(600)
  }
  expect(others).toEqual(['ours', 'ours'])
})

test('it is renewed once a third of its time is over, not before', async () => {
  const { clock, requests, ours } = setUp()
  await ours.ensure()
  await clock.advance(299)
  await ours.ensure()
  expect(requests).toHaveLength(1)
  await clock.advance(1)
  await ours.ensure()
  expect(requests).toHaveLength(2)
  await clock.advance(899)
  expect(ours.isActive()).toBe(true)
})

test('after a clock that was set back it is requested again, not held for longer', async () => {
  const { requests, ours, clock } = setUp()
  await clock.advance(10_000)
  await ours.ensure()
  const now = clock.now()
  clock.now = () => now - 5_000
  expect(ours.isActive()).toBe(false)
  await ours.ensure()
  expect(requests).toHaveLength(2)
})

test('a failed request leaves it unchanged, and rejects', async () => {
  const { clock, failures, ours } = setUp()
  await ours.ensure()
  await clock.advance(300)
  failures.push(new Error('busy'))
  await expect(ours.ensure()).rejects.toThrow('busy')
  expect(ours.isActive()).toBe(true)
})

test('the time of the request counts, and a rejection ends it at once', async () => {
  const clock = manualClock()
  const answers = [true, false]
  const leases: LeaseDeps['leases'] = {
    async acquire() {
      await clock.advance(250)
      return answers.shift() ?? false
    },
    release: async () => undefined,
    list: async () => [],
  }
  const lease = createLease({ leases, clock, name: 'indexer:1', holder: 'ours', ttlMs: 900 })
  await lease.ensure()
  await clock.advance(649)
  expect(lease.isActive()).toBe(true)
  await clock.advance(1)
  expect(lease.isActive()).toBe(false)
  answers.unshift(true)
  await lease.ensure()
  await clock.advance(300)
  expect(lease.isActive()).toBe(true)
  expect(await lease.ensure()).toBe(false)
  expect(lease.isActive()).toBe(false)
})

test('the loop renews it however long the work takes, also after a failed request', async () => {
  const { clock, ours, theirs, failures } = setUp()
  await ours.ensure()
  const loop = start({ run: ours.renew })
  for (let second = 0; second < 10; second += 1) {
    if (second === 4) failures.push(new Error('busy'))
    await clock.advance(1_000)
    expect(ours.isActive()).toBe(true)
    expect(await theirs.ensure()).toBe(false)
  }
  await loop.stop()
  await clock.advance(900)
  expect(await theirs.ensure()).toBe(true)
})

test('the loop does not request a lease that is not held', async () => {
  const { clock, requests, ours } = setUp()
  const loop = start({ run: ours.renew })
  await clock.advance(10_000)
  expect(requests).toEqual([])
  await loop.stop()
  await turns()
  expect(clock.sleepers()).toEqual([])
})
