import { expect, test } from 'vitest'
import { hashOf, page, payment } from '../test/fixtures.js'
import { iteratePages } from './iterate.js'
import type { Page } from './payment.js'

/** Reads a whole list whose page at each cursor is given; null is the first. */
async function walk(pages: ReadonlyMap<string | null, Page>) {
  const asked: (string | null)[] = []
  const seen: string[] = []
  let error: unknown = null
  try {
    const all = iteratePages(async (cursor) => {
      // A walk that does not end must fail, not hang: nothing in it ever waits.
      if (asked.push(cursor) > 20) throw new Error('the walk does not end')
      const found = pages.get(cursor)
      if (!found) throw new Error(`no page at ${cursor}`)
      return found
    })
    for await (const { txHash } of all) seen.push(txHash)
  } catch (thrown) {
    error = thrown
  }
  return { asked, seen, error }
}

test('follows the cursors to the null one', async () => {
  const pages = new Map([
    [null, page([1, 2], 'a')],
    ['a', page([3], 'b')],
    ['b', page([4])],
  ])
  expect(await walk(pages)).toEqual({ asked: [null, 'a', 'b'], seen: [1, 2, 3, 4].map(hashOf), error: null })
})

test('goes on over empty pages while a cursor remains', async () => {
  const pages = new Map([
    [null, page([], 'a')],
    ['a', page([], 'b')],
    ['b', page([1])],
  ])
  expect(await walk(pages)).toEqual({ asked: [null, 'a', 'b'], seen: [hashOf(1)], error: null })
})

test('an empty list is empty', async () => {
  expect(await walk(new Map([[null, page([])]]))).toEqual({ asked: [null], seen: [], error: null })
})

test.each([
  [
    'itself',
    new Map([
      [null, page([1], 'a')],
      ['a', page([2], 'a')],
    ]),
    [1, 2],
  ],
  [
    'an earlier page',
    new Map([
      [null, page([1], 'a')],
      ['a', page([2], 'b')],
      ['b', page([3], 'a')],
    ]),
    [1, 2, 3],
  ],
])('stops at a page that leads back to %s, after handing it out', async (_case, pages, numbers) => {
  const { seen, error } = await walk(pages as ReadonlyMap<string | null, Page>)
  expect(seen).toEqual((numbers as number[]).map(hashOf))
  expect(error).toMatchObject({ code: 'ERR_INVALID_RESPONSE', reason: 'repeated_cursor', path: 'nextCursor' })
})

test('a signal that is aborted inside of a page ends the walk before its next payment', async () => {
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

test('asks for a page only when the one before was read', async () => {
  const asked: (string | null)[] = []
  for await (const { txHash } of iteratePages(async (cursor) => {
    asked.push(cursor)
    return page([1, 2], 'more')
  }))
    if (txHash === hashOf(2)) break
  expect(asked).toEqual([null])
})

/** Reads a list that never says that it ends: `pageAt` makes its pages, numbered from 0. */
async function walkEndless(pageAt: (number: number) => Page) {
  let asked = 0
  let seen = 0
  let error: unknown = null
  try {
    const all = iteratePages(async () => {
      if (asked === 5_000) throw new Error('the walk does not end')
      asked += 1
      return pageAt(asked - 1)
    })
    for await (const _ of all) seen += 1
  } catch (thrown) {
    error = thrown
  }
  return { asked, seen, error }
}

test.each<[string, (number: number) => Page]>([
  ['the same payment', (number) => page([1], `new-${number}`)],
  ['nothing', (number) => page([], `new-${number}`)],
  ['newer and newer payments', (number) => page([10_000 - number], `new-${number}`)],
])('stops when ever new cursors bring %s', async (_case, pageAt) => {
  const { asked, error } = await walkEndless(pageAt)
  expect(error).toMatchObject({ code: 'ERR_INVALID_RESPONSE', reason: 'no_progress', path: 'nextCursor' })
  expect(asked).toBeLessThanOrEqual(101)
})

test('stops in a circle of any length', async () => {
  const length = 1_500
  const { asked, error } = await walkEndless((number) => page([number % length], `c-${number % length}`))
  expect(error).toMatchObject({ code: 'ERR_INVALID_RESPONSE' })
  expect(asked).toBeLessThanOrEqual(length + 101)
})

test('hands out again what a reorganisation moved to an older page', async () => {
  const moved = { ...payment(1), blockTimestamp: payment(4).blockTimestamp }
  const pages = new Map<string | null, Page>([
    [null, page([1, 2], 'a')],
    ['a', { payments: [payment(3), moved], nextCursor: 'b' }],
    ['b', page([5])],
  ])
  const { seen, error } = await walk(pages)
  expect({ seen, error }).toEqual({ seen: [1, 2, 3, 1, 5].map(hashOf), error: null })
})

test('a payment that comes again unchanged is no error while the list goes on to older ones', async () => {
  const pages = new Map<string | null, Page>([
    [null, page([1, 2], 'a')],
    ['a', page([2], 'b')],
    ['b', page([2, 3])],
  ])
  const { seen, error } = await walk(pages)
  expect({ seen, error }).toEqual({ seen: [1, 2, 2, 2, 3].map(hashOf), error: null })
})

test('a thousand pages of payments of one moment are read to their end', async () => {
  const { asked, error } = await walkEndless((number) => ({
    payments: [{ ...payment(0), txHash: hashOf(1_000 - number) }],
    nextCursor: number === 999 ? null : `new-${number}`,
  }))
  expect({ asked, error }).toEqual({ asked: 1_000, error: null })
})
