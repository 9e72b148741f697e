import { expect, test } from 'vitest'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { createSleeper } from './sleeper.js'

/** Whether the sleep still lasts. */
function asleep(sleep: Promise<void>): () => boolean {
  let ended = false
  void sleep.then(() => {
    ended = true
  })
  return () => !ended
}

test('sleeps its time and no less', async () => {
  const clock = manualClock()
  const sleeping = asleep(createSleeper(clock).sleep(100, new AbortController().signal))
  await clock.advance(99)
  expect(sleeping()).toBe(true)
  await clock.advance(1)
  expect(sleeping()).toBe(false)
})

test('a wake ends the current sleep and not the next one', async () => {
  const clock = manualClock()
  const sleeper = createSleeper(clock)
  const { signal } = new AbortController()
  const first = asleep(sleeper.sleep(100, signal))
  sleeper.wake()
  await turns()
  expect(first()).toBe(false)
  const second = asleep(sleeper.sleep(100, signal))
  await turns()
  expect(second()).toBe(true)
})

test('several wakes between two sleeps end exactly one sleep', async () => {
  const clock = manualClock()
  const sleeper = createSleeper(clock)
  const { signal } = new AbortController()
  sleeper.wake()
  sleeper.wake()
  const first = asleep(sleeper.sleep(100, signal))
  await turns()
  expect(first()).toBe(false)
  const second = asleep(sleeper.sleep(100, signal))
  await turns()
  expect(second()).toBe(true)
})

test('a forgotten wake ends no sleep', async () => {
  const sleeper = createSleeper(manualClock())
  sleeper.wake()
  sleeper.forgetWake()
  const sleeping = asleep(sleeper.sleep(100, new AbortController().signal))
  await turns()
  expect(sleeping()).toBe(true)
})

test('an abort ends the sleep, and an aborted signal starts none', async () => {
  const clock = manualClock()
  const sleeper = createSleeper(clock)
  const stop = new AbortController()
  const sleeping = asleep(sleeper.sleep(100, stop.signal))
  stop.abort()
  await turns()
  expect(sleeping()).toBe(false)
  await sleeper.sleep(100, stop.signal)
  expect(clock.slept).toEqual([100])
  expect(clock.sleepers()).toEqual([])
})

test('an endless sleep takes no timer, and ends by a wake or an abort', async () => {
  const clock = manualClock()
  const sleeper = createSleeper(clock)
  const stop = new AbortController()
  const first = asleep(sleeper.sleep(null, stop.signal))
  await clock.advance(1_000_000)
  expect([first(), clock.slept]).toEqual([true, []])
  sleeper.wake()
  await turns()
  expect(first()).toBe(false)
  const second = asleep(sleeper.sleep(null, stop.signal))
  stop.abort()
  await turns()
  expect(second()).toBe(false)
})
