import { expect, test } from 'vitest'
import { createSlots } from './slots.js'

const first = (notificationUrl: string, integrationAddress = notificationUrl) => ({
  claim: { integrationAddress, notificationUrl, attempt: 1, replay: false, probe: false },
})
type Held = ReturnType<typeof first>
const of = (change: Partial<Held['claim']>) => (url: string) => ({ claim: { ...first(url).claim, ...change } })
const retry = of({ attempt: 2 })
const replay = of({ replay: true })
const probe = of({ probe: true })

const slotsOf = (concurrency: number, perEndpoint: number) => createSlots<Held>({ concurrency, perEndpoint })
type Slots = ReturnType<typeof slotsOf>
/** A claim that brings these while those end. */
function claim(slots: Slots, claimed: readonly Held[], ending: readonly Held[] = []): readonly Held[] {
  const isBack = slots.claiming()
  for (const held of ending) slots.release(held)
  isBack()
  return slots.take(claimed)
}
const isBound = (slots: Slots) => slots.room().isBound([])

test('counts what is in hand in all, by endpoint, and of retries, replays and probes', () => {
  const slots = slotsOf(12, 3)
  const [a, again, asked, tried] = [first('a'), retry('a'), replay('b'), probe('c')]
  slots.take([a, again, asked, tried])
  expect([slots.inHand(), isBound(slots)]).toEqual([4, false])
  expect(slots.room().asked).toMatchObject({
    ...{ limit: 8, again: 3, free: 8 },
    held: new Map([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]),
  })
  for (const held of [again, asked, tried]) slots.release(held)
  expect(slots.room().asked).toMatchObject({ limit: 11, again: 6, held: new Map([['a', 1]]) })
})

test('paths of one server are one endpoint, and each integration there is counted by itself', () => {
  const slots = slotsOf(8, 3)
  const held = ['a', 'b', 'a'].map((path) => first(`https://shop.example/${path}`, `0x${path}`))
  slots.take(held)
  expect(slots.room().asked.held).toEqual(new Map([['shop.example:443', 3]]))
  expect([...slots.room().asked.heldOf]).toEqual([
    ['0xa', 2],
    ['0xb', 1],
  ])
  for (const one of held.slice(1, 2)) slots.release(one)
  expect([...slots.room().asked.heldOf]).toEqual([['0xa', 2]])
})

test('is bound when an endpoint holds as many as are free', () => {
  const slots = slotsOf(8, 7)
  slots.take(['a', 'a', 'a', 'b'].map((url) => first(url)))
  expect([slots.room().asked.limit, slots.room().asked.free, isBound(slots)]).toEqual([4, 4, false])
  slots.take([first('c')])
  expect([slots.room().asked.limit, slots.room().asked.free, isBound(slots)]).toEqual([3, 3, true])
})

test('keeps none free where one endpoint may take all', () => {
  const slots = slotsOf(3, 3)
  slots.take(['a', 'a'].map((url) => first(url)))
  expect([slots.room().asked.limit, slots.room().asked.free, isBound(slots)]).toEqual([1, undefined, false])
  slots.take([first('a')])
  expect([slots.room().asked.limit, isBound(slots)]).toEqual([0, true])
})

test('is bound when an endpoint is, and when the retries are', () => {
  const slots = slotsOf(8, 3)
  const held = [1, 2, 3].map(() => first('a'))
  slots.take(held)
  expect(isBound(slots)).toBe(true)
  for (const one of held.slice(0, 1)) slots.release(one)
  expect(isBound(slots)).toBe(false)
  slots.take(['b', 'c', 'd', 'e'].map(retry))
  expect([isBound(slots), slots.room().asked.again]).toEqual([true, 0])
})

test('a claim is bound by what was held when it was asked for, whatever has ended since', () => {
  const slots = slotsOf(8, 3)
  const held = [first('a'), first('a')]
  slots.take(held)
  const room = slots.room()
  const claimed = [first('a')]
  claim(slots, claimed, held)
  expect([room.isBound(claimed.map((one) => one.claim)), isBound(slots)]).toEqual([true, false])
})

test('what was told of a room does not change afterwards', () => {
  const slots = slotsOf(8, 3)
  const { asked } = slots.room()
  slots.take([first('a')])
  expect([asked.held.size, asked.heldOf.size]).toEqual([0, 0])
})

test('a room has the slots of as many posts as ended during the last claim, each for its endpoint', () => {
  const slots = slotsOf(8, 8)
  const held = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'].map((url) => first(url))
  slots.take(held)
  expect(slots.room().asked.limit).toBe(0)
  claim(slots, [first('a'), first('a')], held.slice(0, 2))
  expect(slots.room().asked.limit).toBe(2)
  expect(Object.fromEntries(slots.room().asked.held)).toEqual({ a: 2, b: 4 })
  expect(Object.fromEntries(slots.room().asked.heldOf)).toEqual({ a: 2, b: 4 })
})

test('no more posts of an endpoint are expected to end than are under way', () => {
  const slots = slotsOf(8, 4)
  const held = ['a', 'a', 'a', 'b', 'b', 'b'].map((url) => first(url))
  slots.take(held)
  claim(slots, [], held.slice(0, 2))
  expect(slots.room().asked).toMatchObject({ limit: 5, held: new Map([['b', 3]]) })
})

test('retries that ended during a claim leave room for as many', () => {
  const slots = slotsOf(8, 4)
  const held = ['a', 'b', 'c', 'd'].map(retry)
  slots.take(held)
  claim(slots, [retry('a')], held.slice(0, 1))
  expect(slots.room().asked).toMatchObject({ limit: 5, again: 1 })
})

test('a claim during which nothing ended expects nothing', () => {
  const slots = slotsOf(4, 4)
  const held = ['a', 'a', 'a', 'a'].map((url) => first(url))
  slots.take(held)
  claim(slots, [first('a')], held.slice(0, 1))
  expect(slots.room().asked.limit).toBe(1)
  claim(slots, [])
  expect(slots.room().asked.limit).toBe(0)
})

test('what is claimed before its slot is free waits for it, in the order of the claims', () => {
  const slots = slotsOf(4, 4)
  const held = ['a', 'a', 'b', 'b'].map((url) => first(url))
  const late = ['a', 'b', 'a'].map((url, index) => first(url, `${index}`))
  expect(slots.take(held)).toEqual(held)
  expect(slots.take(late)).toEqual([])
  expect([slots.inHand(), slots.room().asked.limit]).toEqual([7, 0])
  expect(held.slice(0, 3).flatMap((one) => slots.release(one))).toEqual(late)
})

test('what waits gets the slots that become free: so many fewer are claimed ahead', () => {
  const slots = slotsOf(4, 4)
  const held = ['a', 'a', 'a', 'a'].map((url) => first(url))
  slots.take(held)
  claim(slots, [first('a'), first('a'), first('a')], held.slice(0, 2))
  expect([slots.inHand(), slots.room().asked.limit]).toEqual([5, 1])
  slots.take([first('a')])
  expect([slots.inHand(), slots.room().asked.limit]).toEqual([6, 0])
})

test('what waits for its own endpoint takes nothing from others', () => {
  const slots = slotsOf(256, 32)
  const busy = ['a', 'b', 'c', 'd'].flatMap((url) => Array.from({ length: 48 }, () => first(url)))
  expect(slots.take(busy)).toHaveLength(128)
  expect(slots.room().asked).toMatchObject({ limit: 128, free: 128 })
})

test('retries that wait take nothing from first attempts', () => {
  const slots = slotsOf(256, 32)
  const retries = Array.from({ length: 228 }, (_, index) => retry(`${index}`))
  expect(slots.take(retries)).toHaveLength(128)
  expect(slots.room().asked).toMatchObject({ limit: 128, again: 0 })
})

test('of ten endpoints that hold all they may some slots stay free, whatever was claimed ahead', () => {
  const slots = slotsOf(256, 32)
  const many = Array.from({ length: 400 }, (_, index) => first(`${index % 10}`))
  expect(slots.take(many)).toHaveLength(233)
  expect(slots.room().asked).toMatchObject({ limit: 23, free: 23 })
  expect(slots.take([first('other')])).toHaveLength(1)
})

test('waits for a slot of its own endpoint while others go ahead', () => {
  const slots = slotsOf(8, 2)
  const [a, other] = [first('a'), first('a')]
  slots.take([a, other])
  const [more, last, free] = [first('a', 'more'), first('a', 'last'), first('b')]
  expect(slots.take([more, last, free])).toEqual([free])
  expect(slots.release(free)).toEqual([])
  expect(slots.release(other)).toEqual([more])
  expect(slots.release(a)).toEqual([last])
})

test('retries beyond their half wait for one of them to end', () => {
  const slots = slotsOf(4, 4)
  const [one, two, three] = [retry('a'), replay('b'), probe('c')]
  const quick = first('d')
  expect(slots.take([one, two, three, quick])).toEqual([one, two, quick])
  expect(slots.release(quick)).toEqual([])
  expect(slots.release(two)).toEqual([three])
})
