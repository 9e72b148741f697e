import { expect, test } from 'vitest'
import { createSlots, type Slots } from './slots.js'

const first = (notificationUrl: string, integrationAddress = notificationUrl) => ({
  ...{ integrationAddress, notificationUrl, attempt: 1 },
  ...{ replay: false, probe: false },
})
const retry = (notificationUrl: string) => ({ ...first(notificationUrl), attempt: 2 })
const replay = (notificationUrl: string) => ({ ...first(notificationUrl), replay: true })
const probe = (notificationUrl: string) => ({ ...first(notificationUrl), probe: true })

const isBound = (slots: Slots) => slots.room().isBound([])
function askedOf(slots: Slots) {
  const { limit, again, free } = slots.room().asked
  return [limit, again, free]
}

test('counts what is in flight in all, by endpoint, and of retries, replays and probes', () => {
  const slots = createSlots({ concurrency: 12, perEndpoint: 3 })
  for (const holder of [first('a'), retry('a'), replay('b'), probe('c')]) slots.take(holder)
  expect([slots.taken(), askedOf(slots), isBound(slots)]).toEqual([4, [8, 3, 8], false])
  expect(slots.room().asked.held).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]),
  )
  slots.release(retry('a'))
  slots.release(replay('b'))
  slots.release(probe('c'))
  expect([slots.taken(), askedOf(slots), slots.room().asked.held]).toEqual([1, [11, 6, 11], new Map([['a', 1]])])
})

test('paths of one server are one endpoint, and each integration there is counted by itself', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const path of ['a', 'b', 'a']) slots.take(first(`https://shop.example/${path}`, `0x${path}`))
  expect(slots.room().asked.held).toEqual(new Map([['shop.example:443', 3]]))
  expect([...slots.room().asked.heldOf]).toEqual([
    ['0xa', 2],
    ['0xb', 1],
  ])
  slots.release(first('https://shop.example/b', '0xb'))
  expect([...slots.room().asked.heldOf]).toEqual([['0xa', 2]])
})

test('is at its bound when an endpoint holds as many as are free', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 7 })
  for (const name of ['a', 'a', 'a', 'b']) slots.take(first(name))
  expect([askedOf(slots), isBound(slots)]).toEqual([[4, 4, 4], false])
  slots.take(first('c'))
  expect([askedOf(slots), isBound(slots)]).toEqual([[3, 4, 3], true])
})

test('keeps none free where one endpoint may take all', () => {
  const slots = createSlots({ concurrency: 3, perEndpoint: 3 })
  for (const name of ['a', 'a']) slots.take(first(name))
  expect([askedOf(slots), isBound(slots)]).toEqual([[1, 1, undefined], false])
  slots.take(first('a'))
  expect([askedOf(slots), isBound(slots)]).toEqual([[0, 1, undefined], true])
})

test('is at its bound when an endpoint is, and when the retries are', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const _ of [1, 2, 3]) slots.take(first('a'))
  expect(isBound(slots)).toBe(true)
  slots.release(first('a'))
  expect(isBound(slots)).toBe(false)
  for (const name of ['b', 'c', 'd', 'e']) slots.take(retry(name))
  expect([isBound(slots), slots.room().asked.again]).toEqual([true, 0])
})

test('a claim is bound by what was held when it was asked for, and by what it brought, whatever has ended since', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  for (const name of ['a', 'a']) slots.take(first(name))
  const room = slots.room()
  for (const name of ['a', 'a']) slots.release(first(name))
  expect([room.isBound([]), room.isBound([first('a')]), room.isBound([first('b')])]).toEqual([false, true, false])
  expect(slots.room().isBound([first('a')])).toBe(false)
})

test('a claim is bound that brought retries up to their half', () => {
  const room = createSlots({ concurrency: 8, perEndpoint: 8 }).room()
  const four = [retry('a'), replay('b'), probe('c'), retry('d')]
  expect([room.isBound(four.slice(1)), room.isBound(four)]).toEqual([false, true])
})

test('what is told of a room does not change afterwards', () => {
  const slots = createSlots({ concurrency: 8, perEndpoint: 3 })
  const { asked } = slots.room()
  slots.take(first('a'))
  expect([asked.limit, asked.held.size, asked.heldOf.size]).toEqual([8, 0, 0])
})
