import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FakePayment, fakeRouter } from '../../test/support/fake-chain.js'
import { down, type IndexerParts, setUpIndexer } from '../../test/support/indexer-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { paymentFacts } from '../../test/support/stored-payment.js'
import { start, until } from '../../test/support/until.js'
import type { PaymentFacts } from '../payments/payment.js'
import { type CoverageFacts, decideCoverage, noRouterAddress, reconcileCoverage } from './backfill.js'
import type { RouterCoverage } from './chain-store.js'

const added = `0x${'ad'.repeat(20)}`
const throughAdded = (name: string): FakePayment => ({ name, router: { ...paymentFacts(name).router, address: added } })
/** One payment through either router in every block. */
const both = (height: number) => [`old ${height}`, throughAdded(`added ${height}`)]

type SetUp = ReturnType<typeof setUpIndexer>

/** Steps until the head is reached and every gap is closed. */
async function settle({ indexer }: SetUp): Promise<void> {
  for (let idle = 0, steps = 0; idle < 3; steps += 1) {
    if (steps > 5_000) throw new Error('The indexer does not come to rest.')
    idle = (await indexer.step()) ? idle + 1 : 0
    await turns()
  }
}

/** An indexer that restarts at block 20 with an added router. */
async function addRouter(parts?: IndexerParts): Promise<SetUp> {
  const before = setUpIndexer({ startBlock: 3, maxRange: 5 }, parts)
  before.chain.mine(20, both)
  await settle(before)
  before.chain.routers = [fakeRouter, added]
  return setUpIndexer({ startBlock: 3, maxRange: 5 }, before)
}

/** Expects exactly the payments of the chain from a height on as stored on the chain, each with version 1. */
function expectAllStored({ store, chain }: Pick<SetUp, 'store' | 'chain'>, from: number): void {
  const toPlace = (facts: PaymentFacts, version: number) =>
    [facts.blockNumber, facts.logIndex, facts.txHash, facts.blockHash, version].join()
  const stored = store.committed.payments.filter(({ offChain }) => !offChain)
  const mined = chain.rangeOf(from, chain.height()).payments
  expect(stored.map((each) => toPlace(each, each.version)).sort()).toEqual(mined.map((each) => toPlace(each, 1)).sort())
}

test('an added router is read alone for the indexed blocks, and with the others for the new ones', async () => {
  const setUp = await addRouter()
  const { chain, backfills, ranges, ofType, store } = setUp
  expect(store.committed.payments.length).toBe(18)
  chain.mine(3, both)
  await settle(setUp)
  expect(ranges().at(-1)).toBe('21-23')
  expect(backfills()).toEqual(['3-7', '8-12', '13-17', '18-20'])
  expect(chain.calls.flatMap((call) => (call.length === 4 ? call[3] : []))).toEqual([added, added, added, added])
  expectAllStored(setUp, 3)
  expect(store.committed.snapshots).toHaveLength(42)
  const backfilled = { type: 'chain.backfilled', chainId: 1, router: added, to: 20 }
  expect(ofType('chain.backfilled')).toEqual([7, 12, 17, 20].map((blockNumber) => ({ ...backfilled, blockNumber })))
  expect(await store.chains.coverage(1)).toEqual([fakeRouter, added].map((router) => ({ router, from: 3, to: null })))
  expect(setUp.indexer.status()).toMatchObject({ indexed: 23, error: null, lastError: null })
})

test('an added router is resumed after a restart behind the last commit, with one version and one snapshot per payment', async () => {
  const first = await addRouter()
  while (first.ofType('chain.backfilled').length < 2) {
    await first.indexer.step()
    await turns()
  }
  expect(await first.store.chains.coverage(1)).toContainEqual({ router: added, from: 3, to: 12 })
  first.chain.calls.length = 0
  const again = setUpIndexer({ maxRange: 5 }, first)
  await settle(again)
  expect(again.backfills()).toEqual(['13-17', '18-20'])
  expectAllStored(again, 3)
  expect(again.store.committed.snapshots).toHaveLength(36)
})

test('an added router does not delay the head while its node is slow or fails', async () => {
  const setUp = await addRouter()
  const { chain, indexer, clock, checkpoint, backfills } = setUp
  let answer: (() => void) | undefined
  chain.intercept = (call) =>
    call.length === 4 ? new Promise<void>((resolve) => (answer = resolve)).then(() => undefined) : undefined
  await indexer.step()
  chain.mine(2, both)
  expect(await indexer.step()).toBe(true)
  expect(await checkpoint()).toMatchObject({ blockNumber: 22 })
  chain.intercept = (call) => {
    if (call.length === 4) throw down()
    return undefined
  }
  answer?.()
  await turns()
  await settle(setUp)
  expect(indexer.status().error).toBe('ERR_CHAIN_UNAVAILABLE: no answer from the node')
  const asked = backfills().length
  chain.mine(1, both)
  expect(await indexer.step()).toBe(true)
  expect(await checkpoint()).toMatchObject({ blockNumber: 23 })
  await settle(setUp)
  expect(backfills()).toHaveLength(asked)
  chain.intercept = null
  await clock.advance(250)
  await settle(setUp)
  expect(indexer.status().error).toBeNull()
  expectAllStored(setUp, 3)
})

test('a lease that ends while the head is read, and is regained, begins the backfill anew and is no failure', async () => {
  const setUp = await addRouter()
  const { chain, indexer, clock, backfills, failures } = setUp
  await indexer.step()
  await turns()
  chain.intercept = async (call) => {
    if (call[0] === 'head') await clock.advance(60_000)
    return undefined
  }
  await indexer.step()
  chain.intercept = null
  await settle(setUp)
  expect(backfills()).toEqual(['3-7', '3-7', '8-12', '13-17', '18-20'])
  expect(failures()).toEqual([])
  expect(indexer.status()).toMatchObject({ error: null, lastError: null })
  expectAllStored(setUp, 3)
})

test('an added router is read without waits while there are no new blocks', async () => {
  const setUp = await addRouter()
  const loop = start(setUp.indexer)
  await until('all of it', () => setUp.store.committed.payments.length === 36)
  expect(setUp.clock.now()).toBe(Date.UTC(2026, 0, 1))
  await loop.stop()
  expect(setUp.clock.sleepers()).toEqual([])
})

test('a commit of a process with other routers, after its lease ended, leaves no gap', async () => {
  const old = setUpIndexer({ startBlock: 1 })
  old.chain.mine(5, both)
  await settle(old)
  const { chain } = old
  chain.routers = [fakeRouter, added]
  const current = setUpIndexer({}, old)
  await settle(current)
  // The old process still reads with its own routers, and commits late.
  chain.mine(5, both)
  chain.routers = [fakeRouter]
  await old.indexer.step()
  chain.routers = [fakeRouter, added]
  chain.mine(1, both)
  await settle(current)
  expectAllStored(current, 1)
})

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
  const input = { chainId: 1, routers: ['a'], startBlock: 3, lastChecked: null, checkpoint }
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
