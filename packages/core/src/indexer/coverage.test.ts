import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openStore } from '../../test/support/store.js'
import { type CoverageFacts, decideCoverage, noRouterAddress, reconcileCoverage } from './backfill.js'
import type { RouterCoverage } from './chain-store.js'

const facts = (given: Partial<CoverageFacts>): CoverageFacts => ({
  ...{ routers: ['a'], indexedTo: 100, start: 10, coveredTo: given.indexedTo ?? 100 },
  ...given,
})
const row = (router: string, from: number, to: number | null): RouterCoverage => ({ router, from, to })
const gap = (router: string, coveredFrom: number, from: number, to: number) => ({ router, coveredFrom, from, to })

test.each([
  ['no stored coverage: all routers', [], { routers: ['a', 'b'] }, [row('a', 10, null), row('b', 10, null)], []],
  ['no stored coverage and no router', [], { routers: [] }, [row(noRouterAddress, 10, null)], []],
  ['unchanged routers', [row('a', 10, null)], {}, [], []],
  ['an added router', [row('a', 10, null)], { routers: ['a', 'b'] }, [], [gap('b', 10, 10, 100)]],
  ['the first router', [row(noRouterAddress, 10, null)], {}, [row(noRouterAddress, 10, 100)], [gap('a', 10, 10, 100)]],
  ['added before any block', [row('a', 10, null)], { routers: ['a', 'b'], indexedTo: 9 }, [row('b', 10, null)], []],
  ['a removed router', [row('a', 10, null), row('b', 5, null)], {}, [row('b', 5, 100)], []],
  ['a router that stays removed', [row('a', 10, null), row('b', 5, 50)], {}, [], []],
  ['a router that is listed again', [row('a', 10, 50)], {}, [], [gap('a', 10, 51, 100)]],
  ['a backfill that is complete', [row('a', 10, 100)], {}, [row('a', 10, null)], []],
  ['a rollback below a backfill', [row('a', 10, 70)], { indexedTo: 60 }, [row('a', 10, null)], []],
  ['a rollback below a removed router', [row('b', 10, 70)], { routers: [], indexedTo: 60 }, [row('b', 10, 60)], []],
  ['a router that was removed before its first block', [row('a', 10, 4)], {}, [], [gap('a', 10, 10, 100)]],
  ['another process from 81 on', [row('a', 10, null)], { coveredTo: 80 }, [row('a', 10, 80)], [gap('a', 10, 81, 100)]],
  ['another process indexed during a backfill', [row('a', 10, 50)], { coveredTo: 80 }, [], [gap('a', 10, 51, 100)]],
])('decideCoverage: %s', (_case, rows, given, changes, gaps) => {
  expect(decideCoverage(rows, facts(given))).toEqual({ changes, gaps })
})

test.each([
  ['height', { blockNumber: 9, blockHash: 'ours' }],
  ['hash', { blockNumber: 8, blockHash: 'theirs' }],
])('no coverage is stored on top of a checkpoint of another %s', async (_case, stored) => {
  const store = openStore()
  await store.transaction((tx) => tx.setCheckpoint(1, stored))
  const checkpoint = { blockNumber: 8, blockHash: 'ours' }
  const input = { chainId: 1, routers: ['a'], startBlock: 3, checked: null, checkpoint }
  await expect(reconcileCoverage(store, input)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_CHANGED' })
  expect(await store.chains.coverage(1)).toEqual([])
  expect(await reconcileCoverage(store, { ...input, checkpoint: stored })).toEqual([])
  expect(await store.chains.coverage(1)).toEqual([{ router: 'a', from: 3, to: null }])
})

// Random restarts, rollbacks, backfills and other processes: at the end, closing the gaps must cover every block of
// every listed router.
test('coverage never claims a block that was not read for its router', () => {
  const routers = fc.subarray(['a', 'b', 'c'])
  const action = fc.oneof(
    fc.record({ kind: fc.constant('restart' as const), routers }),
    fc.record({ kind: fc.constant('read' as const), blocks: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ kind: fc.constant('rollback' as const), blocks: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('backfill' as const), blocks: fc.integer({ min: 1, max: 15 }) }),
    fc.record({ kind: fc.constant('other process' as const), blocks: fc.integer({ min: 1, max: 20 }), routers }),
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      routers,
      fc.array(action, { maxLength: 40 }),
      (start, first, actions) => {
        const stored = new Map<string, RouterCoverage>()
        const read = new Map<string, Set<number>>(['a', 'b', 'c'].map((router) => [router, new Set()]))
        let indexedTo = start - 1
        let listed = first
        let gaps: ReturnType<typeof gap>[] = []
        const expectRead = (router: string, from: number, to: number) => {
          for (let block = from; block <= to; block += 1)
            expect(read.get(router)?.has(block), `${router} at ${block}`).toBe(true)
        }
        const decide = (coveredTo: number) => {
          const decided = decideCoverage([...stored.values()], { routers: listed, indexedTo, start, coveredTo })
          for (const change of decided.changes) stored.set(change.router, change)
          gaps = decided.gaps
        }
        const follow = (blocks: number, followed: readonly string[]) => {
          for (let block = indexedTo + 1; block <= indexedTo + blocks; block += 1)
            for (const router of followed) read.get(router)?.add(block)
          indexedTo += blocks
        }
        const backfill = (blocks: number) => {
          const [next] = gaps
          if (next === undefined) return
          const to = Math.min(next.to, next.from + blocks - 1)
          for (let block = next.from; block <= to; block += 1) read.get(next.router)?.add(block)
          stored.set(next.router, row(next.router, next.coveredFrom, to === next.to ? null : to))
          if (to === next.to) gaps.shift()
          else gaps[0] = { ...next, from: to + 1 }
        }
        decide(indexedTo)
        for (const step of actions) {
          if (step.kind === 'restart') {
            listed = step.routers
            decide(indexedTo)
          } else if (step.kind === 'read') follow(step.blocks, listed)
          else if (step.kind === 'backfill') backfill(step.blocks)
          else if (step.kind === 'other process') {
            // A process with other routers that lost its lease commits without a check of the coverage.
            const coveredTo = indexedTo
            follow(step.blocks, step.routers)
            decide(coveredTo)
          } else {
            indexedTo = Math.max(start - 1, indexedTo - step.blocks)
            for (const blocks of read.values()) for (const block of blocks) if (block > indexedTo) blocks.delete(block)
            decide(indexedTo)
          }
          for (const { router, from, to } of stored.values()) {
            const isOpen = to === null && listed.includes(router) && gaps.some((each) => each.router === router)
            if (router !== noRouterAddress && !isOpen) expectRead(router, from, Math.min(to ?? indexedTo, indexedTo))
          }
        }
        while (gaps.length > 0) backfill(7)
        for (const router of listed) expectRead(router, start, indexedTo)
      },
    ),
    { numRuns: 500 },
  )
})
