import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import {
  createHashSlots,
  createSignInLimits,
  hashSlotDefaults,
  signInLimitDefaults,
  toNetwork,
} from './operator-sessions.js'

const { windowMs, perName, perSource, reports } = signInLimitDefaults
const times = (n: number, work: (n: number) => unknown) => Array.from({ length: n }, (_, i) => work(i))

test('5 failures of a name close it for the rest of 15 minutes, from every source, and no other name', async () => {
  const clock = manualClock()
  const limits = createSignInLimits(clock)
  times(perName - 1, (n) => limits.count('alice', `10.0.0.${n}`))
  expect(limits.waitMs('alice', 'x')).toBe(0)
  await clock.advance(60_000)
  limits.count('alice', 'y')
  expect(limits.waitMs('alice', 'x')).toBe(windowMs - 60_000)
  expect(limits.waitMs('bob', 'y')).toBe(0)
  await clock.advance(windowMs - 60_001)
  expect(limits.waitMs('alice', 'x')).toBe(1)
  await clock.advance(1)
  expect(limits.waitMs('alice', 'x')).toBe(0)
  limits.count('alice', 'x')
  expect(limits.waitMs('alice', 'x')).toBe(0)
})

test('a clock that is set back by hours lengthens no window', async () => {
  const clock = manualClock()
  const limits = createSignInLimits(clock)
  const { now } = clock
  clock.now = () => now() + 3 * 60 * 60_000
  times(perName, () => limits.count('alice', 'here'))
  clock.now = now
  expect(limits.waitMs('alice', 'here')).toBe(windowMs)
  await clock.advance(windowMs)
  expect(limits.waitMs('alice', 'here')).toBe(0)
})

test('20 failures of a source close it for every name, and open again after 15 minutes', async () => {
  const clock = manualClock()
  const limits = createSignInLimits(clock)
  times(perSource, (n) => limits.count(`name-${n}`, 'here'))
  expect(limits.waitMs('alice', 'here')).toBe(windowMs)
  expect(limits.waitMs('alice', 'there')).toBe(0)
  await clock.advance(windowMs)
  expect(limits.waitMs('alice', 'here')).toBe(0)
})

test('a sign-in removes the failures of its name, but not those of its source', () => {
  const limits = createSignInLimits(manualClock())
  times(perSource - 1, (n) => limits.count(`name-${n}`, 'here'))
  times(perName - 1, () => limits.count('alice', 'there'))
  limits.count('alice', 'here').markSucceeded()
  times(perName - 1, () => limits.count('alice', 'there'))
  expect(limits.waitMs('alice', 'there')).toBe(0)
  limits.count('bob', 'here')
  expect(limits.waitMs('carol', 'here')).toBeGreaterThan(0)
})

test('a sign-in that an error ended does not count', () => {
  const limits = createSignInLimits(manualClock())
  times(50, () => limits.count('alice', 'here').cancel())
  expect(limits.waitMs('alice', 'here')).toBe(0)
})

/** Reports under keys; resolves the keys that were written. */
async function reportTo(limits: ReturnType<typeof createSignInLimits>, keys: readonly string[]): Promise<string[]> {
  const written: string[] = []
  for (const key of keys) await limits.reportOnce(key, async () => void written.push(key))
  return written
}

test('a key is reported once in a window', async () => {
  const clock = manualClock()
  const limits = createSignInLimits(clock)
  expect(await reportTo(limits, ['alice', 'alice', 'bob', 'alice'])).toEqual(['alice', 'bob'])
  await clock.advance(windowMs)
  expect(await reportTo(limits, ['alice'])).toEqual(['alice'])
})

test('20 reports are written in a window, whatever number of other windows opens meanwhile', async () => {
  const clock = manualClock()
  const limits = createSignInLimits(clock)
  const many = times(30, (n) => `source-${n}`) as string[]
  expect(await reportTo(limits, many)).toEqual(many.slice(0, reports))
  times(60_000, (n) => limits.count(`name-${n}`, `source-${n}`))
  expect(await reportTo(limits, many)).toEqual([])
  await clock.advance(windowMs)
  expect(await reportTo(limits, many)).toEqual(many.slice(0, reports))
})

test('a report that could not be written is written the next time', async () => {
  const limits = createSignInLimits(manualClock())
  for (let n = 0; n < 2 * reports; n += 1) {
    const failing = limits.reportOnce('alice', () => Promise.reject(new Error('no database')))
    await expect(failing).rejects.toThrow('no database')
  }
  expect(await reportTo(limits, ['alice', 'alice'])).toEqual(['alice'])
})

test('100,000 other windows make the oldest one go, and no more', () => {
  const limits = createSignInLimits(manualClock())
  times(perName, () => limits.count('alice', 'here'))
  times(49_998, (n) => limits.count(`name-${n}`, `source-${n}`))
  expect(limits.waitMs('alice', 'there')).toBeGreaterThan(0)
  limits.count('one', 'more')
  limits.count('two', 'more')
  expect(limits.waitMs('alice', 'there')).toBe(0)
})

function gate() {
  const started: number[] = []
  const ends = new Map<number, () => void>()
  const work = (n: number) => () =>
    new Promise<number>((resolve) => {
      started.push(n)
      ends.set(n, () => resolve(n))
    })
  const end = async (n: number) => {
    ends.get(n)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { started, work, end }
}

test('two hashes run at once, and the next begins in the order of arrival when one ends', async () => {
  const inSlot = createHashSlots()
  const { started, work, end } = gate()
  const all = [1, 2, 3, 4].map((n) => inSlot('here', work(n)))
  await end(0)
  expect(started).toEqual([1, 2])
  await end(2)
  expect(started).toEqual([1, 2, 3])
  for (const n of [1, 3, 4]) await end(n)
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4])
})

test('when too many wait, the next is rejected with a wait, and none of the waiting is lost', async () => {
  const inSlot = createHashSlots()
  const { started, work, end } = gate()
  const count = hashSlotDefaults.slots + hashSlotDefaults.waiting
  const all = Array.from({ length: count }, (_, n) => inSlot('here', work(n)))
  await expect(inSlot('here', work(99))).rejects.toMatchObject({ code: 'ERR_SIGN_IN_LIMITED', retryAfterSeconds: 5 })
  for (let n = 0; n < count; n += 1) await end(n)
  expect(await Promise.all(all)).toHaveLength(count)
  expect(started).not.toContain(99)
})

test('a full queue takes a caller of another network in place of the newest of the network with the most', async () => {
  const inSlot = createHashSlots({ slots: 1, waiting: 4, busyMs: 5_000 })
  const { started, work, end } = gate()
  const outcomes: string[] = []
  const ask = (network: string, n: number) =>
    inSlot(network, work(n)).then(
      () => outcomes.push(`${n} done`),
      ({ code }: { code: string }) => outcomes.push(`${n} ${code}`),
    )
  const all = [1, 2, 3, 4].map((n) => ask('a', n))
  // The queue is 2, 3, 4 of a and 5 of b: c and d take the places of 4 and 3; then nobody has more than one.
  all.push(ask('b', 5), ask('c', 6), ask('d', 7), ask('e', 8), ask('a', 9))
  for (const n of [0, 1, 2, 5, 6, 7]) await end(n)
  await Promise.all(all)
  expect(started).toEqual([1, 2, 5, 6, 7])
  const rejected = outcomes.filter((each) => each.endsWith('ERR_SIGN_IN_LIMITED'))
  expect(rejected.sort()).toEqual([3, 4, 8, 9].map((n) => `${n} ERR_SIGN_IN_LIMITED`))
})

test.each([
  ['203.0.113.9', '203.0.113.0/24'],
  ['::ffff:203.0.113.9', '203.0.113.0/24'],
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8:0001:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::/64', '2001:db8:0::/48'],
  ['2001:db8::9', '2001:db8:0::/48'],
  ['0:0:0:0::/64', '0:0:0::/48'],
  ['::1', '0:0:0::/48'],
  ['unknown', 'unknown'],
  ['', ''],
])('the source %s is of the network %s', (source, network) => {
  expect(toNetwork(source)).toBe(network)
})
