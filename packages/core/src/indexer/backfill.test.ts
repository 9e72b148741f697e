import { expect, test } from 'vitest'
import { type FakePayment, fakeRouter } from '../../test/support/fake-chain.js'
import { down, type IndexerParts, setUpIndexer } from '../../test/support/indexer-setup.js'
import { turns } from '../../test/support/manual-clock.js'
import { paymentFacts } from '../../test/support/stored-payment.js'
import { start, until } from '../../test/support/until.js'
import type { PaymentFacts } from '../payments/payment.js'

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
