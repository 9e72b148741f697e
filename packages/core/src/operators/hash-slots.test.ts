import { expect, test } from 'vitest'
import { createHashSlots, hashSlotDefaults, toNetwork } from './operator-sessions.js'

/** Work that ends when it is released. */
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
