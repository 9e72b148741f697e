import { expect, test } from 'vitest'
import { createSlots } from './slots.js'

const first = (integrationAddress: string) => ({ integrationAddress, attempt: 1, replay: false })
const retry = (integrationAddress: string) => ({ integrationAddress, attempt: 2, replay: false })
const replay = (integrationAddress: string) => ({ integrationAddress, attempt: 1, replay: true })

test('counts what is in flight in all, by endpoint, and of retries and replays', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const holder of [first('a'), retry('a'), replay('b')]) slots.take(holder)
  expect([slots.free(), slots.again(), slots.atBound()]).toEqual([5, 2, false])
  expect(slots.held()).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  )
  slots.release(retry('a'))
  slots.release(replay('b'))
  expect([slots.free(), slots.again(), slots.held()]).toEqual([7, 4, new Map([['a', 1]])])
})

test('is at its bound when an endpoint is, and when the retries are', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const _ of [1, 2, 3]) slots.take(first('a'))
  expect(slots.atBound()).toBe(true)
  slots.release(first('a'))
  expect(slots.atBound()).toBe(false)
  for (const name of ['b', 'c', 'd', 'e']) slots.take(retry(name))
  expect([slots.atBound(), slots.again()]).toEqual([true, 0])
})

test('what is told of endpoints does not change afterwards', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  const held = slots.held()
  slots.take(first('a'))
  expect(held.size).toBe(0)
})
