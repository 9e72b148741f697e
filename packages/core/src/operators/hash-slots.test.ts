import { expect, test } from 'vitest'
import { createHashSlots, hashSlotDefaults } from './hash-slots.js'

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
  const all = [1, 2, 3, 4].map((n) => inSlot(work(n)))
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
  const all = Array.from({ length: count }, (_, n) => inSlot(work(n)))
  await expect(inSlot(work(99))).rejects.toMatchObject({ code: 'ERR_SIGN_IN_LIMITED', retryAfterSeconds: 5 })
  for (let n = 0; n < count; n += 1) await end(n)
  expect(await Promise.all(all)).toHaveLength(count)
  expect(started).not.toContain(99)
})

test('work that fails frees its slot', async () => {
  const inSlot = createHashSlots({ slots: 1, waiting: 0, busyMs: 1 })
  await expect(inSlot(() => Promise.reject(new Error('stop')))).rejects.toThrow('stop')
  expect(await inSlot(async () => 'done')).toBe('done')
})
