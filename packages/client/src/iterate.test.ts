import { expect, test } from 'vitest'
import { hashOf, page, payment } from '../test/fixtures.js'
import type { Page } from './payments.js'
import { iteratePages } from './payments.js'

/** Reads a whole list with the given page at each cursor; null is the first. */
async function readList(...pages: readonly (readonly [cursor: string | null, page: Page])[]) {
  const requested: (string | null)[] = []
  const seen: string[] = []
  const all = iteratePages(async (cursor) => {
    // An endless list must fail, not hang: nothing in this loop waits.
    if (requested.push(cursor) > 20) throw new Error('the list does not end')
    const found = new Map(pages).get(cursor)
    if (!found) throw new Error(`no page at ${cursor}`)
    return found
  })
  const read = async () => {
    for await (const { txHash } of all) seen.push(txHash)
    return null
  }
  return { error: await read().catch((error: unknown) => error), requested, seen }
}

test('follows the cursors until null', async () => {
  const found = await readList([null, page([1, 2], 'a')], ['a', page([3], 'b')], ['b', page([4])])
  expect(found).toEqual({ requested: [null, 'a', 'b'], seen: [1, 2, 3, 4].map(hashOf), error: null })
})

test.each([
  ['itself', ['a', page([2], 'a')], ['b', page([])], [1, 2]],
  ['an earlier page', ['a', page([2], 'b')], ['b', page([3], 'a')], [1, 2, 3]],
] as const)('stops after yielding a page that leads back to %s', async (_case, second, third, numbers) => {
  const { seen, error } = await readList([null, page([1], 'a')], second, third)
  expect(seen).toEqual(numbers.map(hashOf))
  expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'repeated_cursor', path: 'nextCursor' })
})

test('an abort in the middle of a page stops the iteration before the next payment', async () => {
  const controller = new AbortController()
  const seen: string[] = []
  const all = iteratePages(async () => page([1, 2, 3]), controller.signal)
  const read = async () => {
    for await (const { txHash } of all) {
      seen.push(txHash)
      if (seen.length === 2) controller.abort()
    }
  }
  await expect(read()).rejects.toMatchObject({ code: 'ERR_ABORTED', retryable: false })
  expect(seen).toEqual([1, 2].map(hashOf))
})

test('requests a page only when the one before is consumed', async () => {
  const requested: (string | null)[] = []
  for await (const { txHash } of iteratePages(async (cursor) => {
    requested.push(cursor)
    return page([1, 2], 'more')
  }))
    if (txHash === hashOf(2)) break
  expect(requested).toEqual([null])
})

/** Reads a list without an end: `pageAt` makes its pages, numbered from 0. */
async function readEndless(pageAt: (number: number) => Page) {
  let requested = 0
  const all = iteratePages(async () => {
    if (requested === 5_000) throw new Error('the list does not end')
    requested += 1
    return pageAt(requested - 1)
  })
  const read = async () => {
    for await (const _ of all);
    return null
  }
  const error = await read().catch((thrown: unknown) => thrown)
  return { requested, error }
}

test.each<[string, (number: number) => Page]>([
  ['the same payment', (number) => page([1], `new-${number}`)],
  ['nothing', (number) => page([], `new-${number}`)],
  ['newer and newer payments', (number) => page([10_000 - number], `new-${number}`)],
])('stops when new cursors keep leading to %s', async (_case, pageAt) => {
  const { requested, error } = await readEndless(pageAt)
  expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'no_progress', path: 'nextCursor' })
  expect(requested).toBeLessThanOrEqual(101)
})

test('stops in a cycle of any length', async () => {
  const length = 1_500
  const { requested, error } = await readEndless((number) => page([number % length], `c-${number % length}`))
  expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID' })
  expect(requested).toBeLessThanOrEqual(length + 101)
})

test('yields a payment again after a reorg moved it to an older page', async () => {
  const moved = { ...payment(1), blockTimestamp: payment(4).blockTimestamp }
  const second: Page = { payments: [payment(3), moved], nextCursor: 'b' }
  const { seen, error } = await readList([null, page([1, 2], 'a')], ['a', second], ['b', page([5])])
  expect({ seen, error }).toEqual({ seen: [1, 2, 3, 1, 5].map(hashOf), error: null })
})

test('a repeated payment is no error while the list reaches older payments', async () => {
  const { seen, error } = await readList([null, page([1, 2], 'a')], ['a', page([2], 'b')], ['b', page([2, 3])])
  expect({ seen, error }).toEqual({ seen: [1, 2, 2, 2, 3].map(hashOf), error: null })
})

test('a thousand pages of payments with one block time are read to the end', async () => {
  const { requested, error } = await readEndless((number) => ({
    payments: [{ ...payment(0), txHash: hashOf(1_000 - number) }],
    nextCursor: number === 999 ? null : `new-${number}`,
  }))
  expect({ requested, error }).toEqual({ requested: 1_000, error: null })
})
