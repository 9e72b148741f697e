import { expect, test } from 'vitest'
import { hashOf, page, payment } from '../test/fixtures.js'
import { isOlder, iteratePages, type Page } from './payments.js'

/** Reads a whole list. @param pageAt - Receives the cursor, null for the first page, and the page's number from 0. */
async function readPages(pageAt: (cursor: string | null, number: number) => Page | undefined) {
  const requested: (string | null)[] = []
  const seen: string[] = []
  const all = iteratePages(async (cursor) => {
    // An endless list must fail, not hang: nothing in this loop waits.
    if (requested.push(cursor) > 5_000) throw new Error('the list does not end')
    const found = pageAt(cursor, requested.length - 1)
    if (!found) throw new Error(`no page at ${cursor}`)
    return found
  })
  const read = async () => {
    for await (const { txHash } of all) seen.push(txHash)
    return null
  }
  return { error: await read().catch((error: unknown) => error), requested, seen }
}
/** Reads a list with the given page at each cursor. */
const readList = (...pages: readonly (readonly [cursor: string | null, page: Page])[]) =>
  readPages((cursor) => new Map(pages).get(cursor))

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

test.each<[string, (number: number) => Page]>([
  ['the same payment', (number) => page([1], `new-${number}`)],
  ['nothing', (number) => page([], `new-${number}`)],
  ['newer and newer payments', (number) => page([10_000 - number], `new-${number}`)],
])('stops when new cursors keep leading to %s', async (_case, pageAt) => {
  const { requested, error } = await readPages((_cursor, number) => pageAt(number))
  expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', reason: 'no_progress', path: 'nextCursor' })
  expect(requested.length).toBeLessThanOrEqual(101)
})

test('stops in a cycle of any length', async () => {
  const length = 1_500
  const { requested, error } = await readPages((_, number) => page([number % length], `c-${number % length}`))
  expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID' })
  expect(requested.length).toBeLessThanOrEqual(length + 101)
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
  const { requested, error } = await readPages((_, number) => ({
    payments: [{ ...payment(0), txHash: hashOf(1_000 - number) }],
    nextCursor: number === 999 ? null : `new-${number}`,
  }))
  expect([requested.length, error]).toEqual([1_000, null])
})

const at = (blockTimestamp: string, chainId: string, txHash: string) => payment(0, { blockTimestamp, chainId, txHash })
const noon = '2026-01-02T12:00:00.000Z'
const middle = at(noon, '10', hashOf(5))

test.each([
  ['an earlier block', at('2026-01-02T11:59:59.999Z', '10', hashOf(5)), true],
  ['an earlier block with a higher chain and hash', at('2025-12-31T23:59:59.000Z', '137', hashOf(9)), true],
  ['a later block with a lower chain and hash', at('2026-01-02T12:00:01.000Z', '1', hashOf(1)), false],
  ['a lower chain, compared as a number', at(noon, '9', hashOf(5)), true],
  ['a higher chain, compared as a number', at(noon, '100', hashOf(1)), false],
  ['a lower hash', at(noon, '10', hashOf(4)), true],
  ['a higher hash', at(noon, '10', hashOf(6)), false],
  ['the same position', middle, false],
])('%s comes later in the list: %o', (_case, payment, expected) => expect(isOlder(payment, middle)).toBe(expected))
