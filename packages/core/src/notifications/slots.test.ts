import { expect, test } from 'vitest'
import { createSlots, type Slots } from './slots.js'

const first = (notificationUrl: string, integrationAddress = notificationUrl) => ({
  ...{ integrationAddress, notificationUrl, attempt: 1 },
  ...{ replay: false, probe: false },
})
const retry = (notificationUrl: string) => ({ ...first(notificationUrl), attempt: 2 })
const replay = (notificationUrl: string) => ({ ...first(notificationUrl), replay: true })
const probe = (notificationUrl: string) => ({ ...first(notificationUrl), probe: true })

const isLimitReached = (slots: Slots) => slots.freeSlots().isLimitReached([])
function freeOf(slots: Slots) {
  const { limit, maxRetries, freeSlots } = slots.freeSlots().request
  return [limit, maxRetries, freeSlots]
}

test('counts POSTs in flight in all, by endpoint, and of retries, replays and probes', () => {
  const slots = createSlots({ concurrency: 12, perEndpoint: 3 })
  for (const user of [first('a'), retry('a'), replay('b'), probe('c')]) slots.take(user)
  expect([slots.inFlight(), freeOf(slots), isLimitReached(slots)]).toEqual([4, [8, 3, 8], false])
  expect(slots.freeSlots().request.inFlightByEndpoint).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]),
  )
  slots.release(retry('a'))
  slots.release(replay('b'))
  slots.release(probe('c'))
  expect([slots.inFlight(), freeOf(slots), slots.freeSlots().request.inFlightByEndpoint]).toEqual([
    1,
    [11, 6, 11],
    new Map([['a', 1]]),
  ])
})

test('paths of one server are one endpoint, and each integration there is counted by itself', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const path of ['a', 'b', 'a']) slots.take(first(`https://shop.example/${path}`, `0x${path}`))
  expect(slots.freeSlots().request.inFlightByEndpoint).toEqual(new Map([['shop.example:443', 3]]))
  expect([...slots.freeSlots().request.inFlightByIntegration]).toEqual([
    ['0xa', 2],
    ['0xb', 1],
  ])
  slots.release(first('https://shop.example/b', '0xb'))
  expect([...slots.freeSlots().request.inFlightByIntegration]).toEqual([['0xa', 2]])
})

test('the limit is reached when an endpoint has as many POSTs in flight as slots are free', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 7 })
  for (const name of ['a', 'a', 'a', 'b']) slots.take(first(name))
  expect([freeOf(slots), isLimitReached(slots)]).toEqual([[4, 4, 4], false])
  slots.take(first('c'))
  expect([freeOf(slots), isLimitReached(slots)]).toEqual([[3, 4, 3], true])
})

test('one endpoint may take all slots where its limit is that of all', () => {
  const slots = createSlots({ concurrency: 3, perEndpoint: 3 })
  for (const name of ['a', 'a']) slots.take(first(name))
  expect([freeOf(slots), isLimitReached(slots)]).toEqual([[1, 1, undefined], false])
  slots.take(first('a'))
  expect([freeOf(slots), isLimitReached(slots)]).toEqual([[0, 1, undefined], true])
})

test('the limit is reached by an endpoint, and by the retries', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const _ of [1, 2, 3]) slots.take(first('a'))
  expect(isLimitReached(slots)).toBe(true)
  slots.release(first('a'))
  expect(isLimitReached(slots)).toBe(false)
  for (const name of ['b', 'c', 'd', 'e']) slots.take(retry(name))
  expect([isLimitReached(slots), slots.freeSlots().request.maxRetries]).toEqual([true, 0])
})

test('a claim reaches the limit by its deliveries and the POSTs in flight at its beginning, not by later ones', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const name of ['a', 'a']) slots.take(first(name))
  const free = slots.freeSlots()
  for (const name of ['a', 'a']) slots.release(first(name))
  expect([free.isLimitReached([]), free.isLimitReached([first('a')]), free.isLimitReached([first('b')])]).toEqual([
    false,
    true,
    false,
  ])
  expect(slots.freeSlots().isLimitReached([first('a')])).toBe(false)
})

test('a claim reaches the limit with half of the slots as retries', () => {
  const free = createSlots({ concurrency: 8, perEndpoint: 8 }).freeSlots()
  const four = [retry('a'), replay('b'), probe('c'), retry('d')]
  expect([free.isLimitReached(four.slice(1)), free.isLimitReached(four)]).toEqual([false, true])
})

test('free slots do not change after they were read', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  const { request } = slots.freeSlots()
  slots.take(first('a'))
  expect([request.limit, request.inFlightByEndpoint.size, request.inFlightByIntegration.size]).toEqual([8, 0, 0])
})
