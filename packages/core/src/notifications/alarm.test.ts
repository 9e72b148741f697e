import { expect, test } from 'vitest'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { createAlarm } from './alarm.js'

/** Starts a sleep and tells whether it ended. */
function asleep(sleep: Promise<void>): () => boolean {
  let ended = false
  void sleep.then(() => {
    ended = true
  })
  return () => !ended
}

test('sleeps its time and not less', async () => {
  const clock = manualClock()
  const sleeping = asleep(createAlarm(clock).sleep(100, new AbortController().signal))
  await clock.advance(99)
  expect(sleeping()).toBe(true)
  await clock.advance(1)
  expect(sleeping()).toBe(false)
})

test('a ring ends the sleep at once, and only that one', async () => {
  const clock = manualClock()
  const alarm = createAlarm(clock)
  const { signal } = new AbortController()
  const first = asleep(alarm.sleep(100, signal))
  alarm.ring()
  await turns()
  expect(first()).toBe(false)
  const second = asleep(alarm.sleep(100, signal))
  await turns()
  expect(second()).toBe(true)
})

test('a ring between two sleeps ends the next one, however often it rang', async () => {
  const clock = manualClock()
  const alarm = createAlarm(clock)
  const { signal } = new AbortController()
  alarm.ring()
  alarm.ring()
  const first = asleep(alarm.sleep(100, signal))
  await turns()
  expect(first()).toBe(false)
  const second = asleep(alarm.sleep(100, signal))
  await turns()
  expect(second()).toBe(true)
})

test('a ring that is forgotten ends no sleep', async () => {
  const alarm = createAlarm(manualClock())
  alarm.ring()
  alarm.forget()
  const sleeping = asleep(alarm.sleep(100, new AbortController().signal))
  await turns()
  expect(sleeping()).toBe(true)
})

test('an abort ends the sleep, and an aborted signal starts none', async () => {
  const clock = manualClock()
  const alarm = createAlarm(clock)
  const stop = new AbortController()
  const sleeping = asleep(alarm.sleep(100, stop.signal))
  stop.abort()
  await turns()
  expect(sleeping()).toBe(false)
  await alarm.sleep(100, stop.signal)
  expect(clock.slept).toEqual([100])
  expect(clock.sleepers()).toEqual([])
})

test('a sleep without end takes no timer, and ends by a ring or an abort', async () => {
  const clock = manualClock()
  const alarm = createAlarm(clock)
  const stop = new AbortController()
  const first = asleep(alarm.sleep(null, stop.signal))
  await clock.advance(1_000_000)
  expect([first(), clock.slept]).toEqual([true, []])
  alarm.ring()
  await turns()
  expect(first()).toBe(false)
  const second = asleep(alarm.sleep(null, stop.signal))
  stop.abort()
  await turns()
  expect(second()).toBe(false)
})
