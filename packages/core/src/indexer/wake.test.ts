import { expect, test } from 'vitest'
import { manualClock, turns } from '../../test/support/manual-clock.js'
import { createWake } from './wake.js'

function setUp() {
  const clock = manualClock()
  const wake = createWake(clock)
  const stop = new AbortController()
  let over = false
  const wait = (ms: number) => {
    over = false
    return wake.wait(ms, stop.signal).then(() => {
      over = true
    })
  }
  return { clock, wake, stop, wait, over: () => over }
}

test('a wait without a wake-up lasts its time', async () => {
  const { clock, wait, over } = setUp()
  const waiting = wait(500)
  await clock.advance(499)
  expect(over()).toBe(false)
  await clock.advance(1)
  expect(over()).toBe(true)
  await waiting
})

test('a wake-up ends the wait at once, and the next wait lasts its time', async () => {
  const { clock, wake, wait, over } = setUp()
  void wait(500)
  await turns()
  wake.wake()
  wake.wake()
  await turns()
  expect(over()).toBe(true)
  expect(clock.sleepers()).toEqual([])
  void wait(500)
  await clock.advance(499)
  expect(over()).toBe(false)
  await clock.advance(1)
  expect(over()).toBe(true)
})

test('wake-ups before a wait end that wait, once', async () => {
  const { wake, wait, over, clock } = setUp()
  wake.wake()
  wake.wake()
  await wait(500)
  expect(clock.slept).toEqual([])
  void wait(500)
  await turns()
  expect(over()).toBe(false)
})

test('an abort ends a wait and every later one, and leaves no listener', async () => {
  const { clock, stop, wait } = setUp()
  const waiting = wait(500)
  stop.abort()
  await waiting
  await wait(500)
  expect(clock.sleepers()).toEqual([])
  expect(clock.slept).toEqual([500])
})
