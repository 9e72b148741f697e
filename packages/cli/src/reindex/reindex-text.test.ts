import { describe, expect, it } from 'vitest'
import { reindexText, summaryText } from './reindex-text.js'

const hash = `0x${'ab'.repeat(32)}`
const report = { range: { from: 1_000, to: 1_999 }, proof: 'bloom', endpoint: 'a.example #1', repaired: false } as const

describe('a reindex, for people', () => {
  it('has a line for each range, and one with the whole hash for each difference', () => {
    expect(reindexText({ ...report, differences: [] })).toEqual([
      'Blocks 1,000 to 1,999: as stored  (proof bloom, a.example #1)',
    ])
    const differences = [
      { kind: 'missing', txHash: hash, ordinal: 0 },
      { kind: 'changed', txHash: hash, ordinal: 1, fields: ['blockHash', 'memoHex'] },
    ] as const
    expect(reindexText({ ...report, repaired: true, differences })).toEqual([
      'Blocks 1,000 to 1,999: 2 differences, repaired  (proof bloom, a.example #1)',
      `  missing  ${hash}  payment 0`,
      `  changed  ${hash}  payment 1  blockHash, memoHex`,
    ])
    expect(reindexText({ ...report, differences: [{ kind: 'extra', txHash: hash, ordinal: 0 }] })[0]).toBe(
      'Blocks 1,000 to 1,999: 1 difference  (proof bloom, a.example #1)',
    )
  })

  it.each([
    [{ blocks: 1, differences: 0, repaired: 0, dryRun: false }, 'Chain 1: 1 block read, everything is as stored.'],
    [
      { blocks: 2_000, differences: 1, repaired: 1, dryRun: false },
      'Chain 1: 2,000 blocks read, 1 difference, 1 repaired.',
    ],
    [
      { blocks: 9, differences: 2, repaired: 0, dryRun: true },
      'Chain 1: 9 blocks read, 2 differences, nothing was written.',
    ],
  ])('%j ends with a sentence', (summary, line) => expect(summaryText({ chainId: 1, ...summary })).toEqual([line]))
})
