import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { createSignInLimits, signInLimitDefaults } from './operator-sessions.js'

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
  limits.count('alice', 'here').succeeded()
  times(perName - 1, () => limits.count('alice', 'there'))
  expect(limits.waitMs('alice', 'there')).toBe(0)
  limits.count('bob', 'here')
  expect(limits.waitMs('carol', 'here')).toBeGreaterThan(0)
})

test('a sign-in that an error ended does not count', () => {
  const limits = createSignInLimits(manualClock())
  times(50, () => limits.count('alice', 'here').cancelled())
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
