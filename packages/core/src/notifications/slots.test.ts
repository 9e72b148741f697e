import { expect, test } from 'vitest'
import { createSlots } from './slots.js'

const first = (notificationUrl: string, integrationAddress = notificationUrl) => ({
  ...{ integrationAddress, notificationUrl, attempt: 1 },
  ...{ replay: false, probe: false },
})
const retry = (notificationUrl: string) => ({ ...first(notificationUrl), attempt: 2 })
const replay = (notificationUrl: string) => ({ ...first(notificationUrl), replay: true })
const probe = (notificationUrl: string) => ({ ...first(notificationUrl), probe: true })

test('counts what is in flight in all, by endpoint, and of retries, replays and probes', () => {
  const slots = createSlots({ concurrency: 12, perEndpoint: 3 })
  for (const holder of [first('a'), retry('a'), replay('b'), probe('c')]) slots.take(holder)
  expect([slots.free(), slots.again(), slots.atBound()]).toEqual([8, 3, false])
  expect(slots.held()).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]),
  )
  slots.release(retry('a'))
  slots.release(replay('b'))
  slots.release(probe('c'))
  expect([slots.free(), slots.again(), slots.held()]).toEqual([11, 6, new Map([['a', 1]])])
})

test('paths of one server are one endpoint, and each integration there is counted by itself', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const path of ['a', 'b', 'a']) slots.take(first(`https://shop.example/${path}`, `0x${path}`))
  expect(slots.held()).toEqual(new Map([['shop.example:443', 3]]))
  expect([...slots.heldOf()]).toEqual([
    ['0xa', 2],
    ['0xb', 1],
  ])
  slots.release(first('https://shop.example/b', '0xb'))
  expect([...slots.heldOf()]).toEqual([['0xa', 2]])
})

test('is at its bound when an endpoint holds as many as are free', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 7 })
  for (const name of ['a', 'a', 'a', 'b']) slots.take(first(name))
  expect([slots.free(), slots.keptFree(), slots.atBound()]).toEqual([4, 4, false])
  slots.take(first('c'))
  expect([slots.free(), slots.keptFree(), slots.atBound()]).toEqual([3, 3, true])
})

test('keeps none free where one endpoint may take all', () => {
  const slots = createSlots({ concurrency: 3, perEndpoint: 3 })
  for (const name of ['a', 'a']) slots.take(first(name))
  expect([slots.free(), slots.keptFree(), slots.atBound()]).toEqual([1, undefined, false])
  slots.take(first('a'))
  expect([slots.free(), slots.atBound()]).toEqual([0, true])
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
  const [held, heldOf] = [slots.held(), slots.heldOf()]
  slots.take(first('a'))
  expect([held.size, heldOf.size]).toEqual([0, 0])
})
