import { describe, expect, test } from 'vitest'
import { createFailures } from '../rpc/failures.js'
import { readCandidates } from './logs.js'
import type { Header, RangeReader } from './range-reader.js'

const filled = `0x${'ff'.repeat(256)}`
const empty = `0x${'00'.repeat(256)}`
/** A filter holds our logs when any bit is set. */
const reader = {
  fail: createFailures(1),
  filter: (bloom: string) => (bloom === empty ? 'no' : 'likely'),
  headerHashing: { isExpected: true },
} as Partial<RangeReader> as RangeReader

/** Headers of blocks with so many transactions; negative: the filter denies payments. */
function makeHeaders(...sizes: number[]): Header[] {
  return sizes.map((size, number) => ({
    ref: { number, hash: `0x${number}`, parentHash: '0x', timestamp: 0 },
    logsBloom: size < 0 ? empty : filled,
    receiptsRoot: null,
    transactions: Array.from({ length: Math.abs(size) }, () => '0x'),
    isAuthentic: true,
  }))
}
const numbers = (headers: readonly Header[]) => headers.map(({ ref }) => ref.number)
async function read(most: number, ...sizes: number[]) {
  const { headers, candidates } = await readCandidates(reader, makeHeaders(...sizes), most)
  return { headers: numbers(headers), candidates: numbers(candidates) }
}

describe('a range', () => {
  test('ends before it holds more transactions than it may', async () => {
    expect(await read(10, 5, 5, 1)).toEqual({ headers: [0, 1], candidates: [0, 1] })
  })

  test('contains its first candidate, however large, and the denied blocks up to the next', async () => {
    expect(await read(10, -3, 99, -3, 1, 1)).toEqual({ headers: [0, 1, 2], candidates: [1] })
  })

  test('is not shortened by blocks that hold no payment', async () => {
    expect(await read(10, -99, -99, 4)).toEqual({ headers: [0, 1, 2], candidates: [2] })
  })
})

test('a block without a filter may contain a payment unless it is empty', async () => {
  const contents = [['0x'], [], null]
  const headers = makeHeaders(1, 1, 1)
  const all = headers.map((header, at) => ({ ...header, transactions: contents[at] ?? null, logsBloom: null }))
  expect(numbers((await readCandidates(reader, all, 10)).candidates)).toEqual([0, 2])
})
