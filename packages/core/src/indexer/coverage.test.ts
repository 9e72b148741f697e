import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../test/support/memory-store.js'
import type { RouterCoverage } from '../ports/store-chains.js'
import { type CoverageFacts, decideCoverage, noRouter, reconcileCoverage } from './coverage.js'

const facts = (given: Partial<CoverageFacts>): CoverageFacts => ({
  routers: ['a'],
  indexedTo: 100,
  start: 10,
  through: given.indexedTo ?? 100,
  ...given,
})
const row = (router: string, from: number, to: number | null): RouterCoverage => ({ router, from, to })
const gap = (router: string, coveredFrom: number, from: number, to: number) => ({ router, coveredFrom, from, to })

describe('decideCoverage', () => {
  test.each([
    ['nothing noted: all from the start', [], { routers: ['a', 'b'] }, [row('a', 10, null), row('b', 10, null)], []],
    ['nothing noted, no router', [], { routers: [] }, [row(noRouter, 10, null)], []],
    ['all as noted', [row('a', 10, null)], {}, [], []],
    ['a new router', [row('a', 10, null)], { routers: ['a', 'b'] }, [], [gap('b', 10, 10, 100)]],
    [
      'a new router of a chain that had none',
      [row(noRouter, 10, null)],
      {},
      [row(noRouter, 10, 100)],
      [gap('a', 10, 10, 100)],
    ],
    [
      'a new router before the first block',
      [row('a', 10, null)],
      { routers: ['a', 'b'], indexedTo: 9 },
      [row('b', 10, null)],
      [],
    ],
    ['a router that was taken off', [row('a', 10, null), row('b', 5, null)], {}, [row('b', 5, 100)], []],
    ['a router that stays off', [row('a', 10, null), row('b', 5, 50)], {}, [], []],
    ['a router that is back', [row('a', 10, 50)], {}, [], [gap('a', 10, 51, 100)]],
    ['a backfill that ended here', [row('a', 10, 100)], {}, [row('a', 10, null)], []],
    ['a checkpoint that went below a backfill', [row('a', 10, 70)], { indexedTo: 60 }, [row('a', 10, null)], []],
    [
      'a checkpoint that went below what was read of a router that is off',
      [row('b', 10, 70)],
      { routers: [], indexedTo: 60 },
      [row('b', 10, 60)],
      [],
    ],
    ['a router that is off since before its first block', [row('a', 10, 4)], {}, [], [gap('a', 10, 10, 100)]],
    [
      'somebody else went on from 80',
      [row('a', 10, null)],
      { through: 80 },
      [row('a', 10, 80)],
      [gap('a', 10, 81, 100)],
    ],
    ['somebody else, beside a backfill', [row('a', 10, 50)], { through: 80 }, [], [gap('a', 10, 51, 100)]],
  ])('%s', (_case, rows, given, notes, gaps) => {
    expect(decideCoverage(rows, facts(given))).toEqual({ notes, gaps })
  })
})

test.each([
  ['height', { blockNumber: 9, blockHash: 'ours' }],
  ['hash', { blockNumber: 8, blockHash: 'theirs' }],
])('nothing is noted on top of a checkpoint of another %s', async (_case, stored) => {
  const store = memoryStore()
  await store.transaction((tx) => tx.setCheckpoint(1, stored))
  const question = { chainId: 1, routers: ['a'], startBlock: 3, ours: null }
  const checkpoint = { blockNumber: 8, blockHash: 'ours' }
  await expect(reconcileCoverage(store, { ...question, checkpoint })).rejects.toMatchObject({
    code: 'ERR_CHECKPOINT_MOVED',
  })
  expect(await store.chains.coverage(1)).toEqual([])
  expect(await reconcileCoverage(store, { ...question, checkpoint: stored })).toEqual([])
  expect(await store.chains.coverage(1)).toEqual([{ router: 'a', from: 3, to: null }])
})

/**
 * A chain as it is really read: with some routers along with the head, and backfills in pieces. What is noted must never claim a block that
 * was not read, whatever was listed when, and closing the gaps must cover everything.
 */
test('no block that was not read for a router is ever noted as covered', () => {
  const routers = fc.subarray(['a', 'b', 'c'])
  const action = fc.oneof(
    fc.record({ kind: fc.constant('restart' as const), routers }),
    fc.record({ kind: fc.constant('read' as const), blocks: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ kind: fc.constant('back' as const), blocks: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('backfill' as const), blocks: fc.integer({ min: 1, max: 15 }) }),
    fc.record({ kind: fc.constant('elsewhere' as const), blocks: fc.integer({ min: 1, max: 20 }), routers }),
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      routers,
      fc.array(action, { maxLength: 40 }),
      (start, first, actions) => {
        const noted = new Map<string, RouterCoverage>()
        const read = new Map<string, Set<number>>(['a', 'b', 'c'].map((router) => [router, new Set()]))
        let indexedTo = start - 1
        let listed = first
        let gaps: { router: string; coveredFrom: number; from: number; to: number }[] = []
        const look = (through: number) => {
          const decided = decideCoverage([...noted.values()], { routers: listed, indexedTo, start, through })
          for (const note of decided.notes) noted.set(note.router, note)
          gaps = decided.gaps
        }
        const readAlong = (blocks: number, along: readonly string[]) => {
          for (let block = indexedTo + 1; block <= indexedTo + blocks; block += 1)
            for (const router of along) read.get(router)?.add(block)
          indexedTo += blocks
        }
        const backfill = (blocks: number) => {
          const [next] = gaps
          if (next === undefined) return
          const to = Math.min(next.to, next.from + blocks - 1)
          for (let block = next.from; block <= to; block += 1) read.get(next.router)?.add(block)
          noted.set(next.router, row(next.router, next.coveredFrom, to === next.to ? null : to))
          if (to === next.to) gaps.shift()
          else gaps[0] = { ...next, from: to + 1 }
        }
        look(indexedTo)
        for (const step of actions) {
          if (step.kind === 'restart') {
            listed = step.routers
            look(indexedTo)
          } else if (step.kind === 'read') readAlong(step.blocks, listed)
          else if (step.kind === 'backfill') backfill(step.blocks)
          else if (step.kind === 'elsewhere') {
            // A writer with other routers, which did not look at what is noted: it lost its lease long ago.
            const through = indexedTo
            readAlong(step.blocks, step.routers)
            look(through)
          } else {
            indexedTo = Math.max(start - 1, indexedTo - step.blocks)
            for (const blocks of read.values()) for (const block of blocks) if (block > indexedTo) blocks.delete(block)
            look(indexedTo)
          }
          for (const { router, from, to } of noted.values())
            for (let block = from; block <= Math.min(to ?? indexedTo, indexedTo); block += 1)
              if (
                router !== noRouter &&
                (to !== null || !listed.includes(router) || !gaps.some((each) => each.router === router))
              )
                expect(read.get(router)?.has(block), `${router} at ${block}`).toBe(true)
        }
        while (gaps.length > 0) backfill(7)
        for (const router of listed)
          for (let block = start; block <= indexedTo; block += 1)
            expect(read.get(router)?.has(block), `${router} at ${block}`).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})
