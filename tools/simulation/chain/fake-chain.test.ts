import { toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createDraws } from '../random.js'
import { getReceipts } from './block.js'
import { encodeRlp, encodeWhole } from './encoding.js'
import { blockAt, createFakeChain, getBranch } from './fake-chain.js'
import { drawTransaction } from './transaction.js'

const lorem = 'Lorem ipsum dolor sit amet, consectetur adipisicing elit'
const bytes = (text: string) => new TextEncoder().encode(text)

test.each([
  ['nothing', new Uint8Array(0), '0x80'],
  ['a small byte', Uint8Array.of(0x0f), '0x0f'],
  ['a byte above 0x7f', Uint8Array.of(0x80), '0x8180'],
  ['a word', bytes('dog'), '0x83646f67'],
  ['a list of words', [bytes('cat'), bytes('dog')], '0xc88363617483646f67'],
  ['an empty list', [], '0xc0'],
  ['lists in lists', [[], [[]], [[], [[]]]], '0xc7c0c1c0c3c0c1c0'],
  ['a number of two bytes', encodeWhole(1024), '0x820400'],
  ['56 bytes', bytes(lorem), `0xb838${toHex(lorem).slice(2)}`],
])('%s is encoded as in the yellow paper and its tests', (_, item, expected) => {
  expect(toHex(encodeRlp(item))).toBe(expected)
})

describe('the fake chain', () => {
  const draws = createDraws('fake chain')
  const chain = createFakeChain(31_337, draws, 1_700_000_000)
  const transactions = Array.from({ length: 40 }, (_, nonce) => drawTransaction(draws, nonce))
  for (let height = 0; height < 10; height += 1)
    chain.mine(transactions.slice(height * 4, height * 4 + 4), 1_700_000_000 + height)

  test('counts logs over the whole block', () => {
    for (const block of getBranch(chain.tip)) {
      const logs = getReceipts(block).flatMap((receipt) => receipt['logs'] as { logIndex: string }[])
      const indexes = logs.map(({ logIndex }) => Number(logIndex))
      expect(indexes).toEqual(indexes.map((_, index) => index))
    }
  })

  test('returns the transactions that a fork removes, oldest first, and continues from the ancestor', () => {
    const ancestor = blockAt(chain.tip, 7)
    const orphaned = chain.fork(3)
    expect(orphaned.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 12 }, (_, index) => 28 + index))
    expect(chain.tip).toBe(ancestor)
    chain.mine([], 1_700_000_020)
    expect(chain.tip.header['parentHash']).toBe(ancestor?.hash)
    expect(chain.everMined.size).toBe(40)
  })
})
