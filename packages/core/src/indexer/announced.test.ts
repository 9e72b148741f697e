import { expect, test } from 'vitest'
import type { FakeChain } from '../../test/support/fake-chain.js'
import { down, failing, setUpIndexed } from '../../test/support/indexer-setup.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { start, until } from '../../test/support/until.js'
import type { BlockRef } from '../ports/chain.js'

/** The calls that an indexer at height 1 makes, and its status, after one more block and an announcement. */
async function callsOfAnnounced(
  announce: (block: BlockRef) => unknown,
  prepare: (chain: FakeChain) => void = () => {},
) {
  const { chain, indexer, clock, waits } = await setUpIndexed(1)
  const loop = start(indexer)
  await until('the wait', () => waits().length === 1)
  chain.mine(1)
  chain.calls.length = 0
  const announced = announce(chain.at(2)) as BlockRef
  prepare(chain)
  chain.wake(announced)
  await until('the next wait', () => waits().length === 2)
  const status = indexer.status()
  await loop.stop()
  return { status, calls: chain.calls.map(String), now: clock.now() }
}

test('an announced block on top of the checkpoint is read without a read of the head', async () => {
  const { calls, status } = await callsOfAnnounced((block) => block)
  expect(calls).toEqual(['range,2,2'])
  expect(status).toMatchObject({ head: 2, headAt: Date.UTC(2026, 0, 1) + 2_000, indexed: 2 })
})

test.each([
  ['has another parent', (block: BlockRef) => ({ ...block, parentHash: hashOf('another') })],
  ['leaves out a block', (block: BlockRef) => ({ ...block, number: 3 })],
  ['has no valid hash', (block: BlockRef) => ({ ...block, hash: '0xAB' })],
  ['is null', () => null],
])('the head is read when the announced block %s', async (_, announce) => {
  const { calls, status } = await callsOfAnnounced(announce)
  expect(calls).toEqual(['head', 'range,2,2'])
  expect(status).toMatchObject({ head: 2, indexed: 2, lastError: null })
})

test('the head is read when the node that answers has not got the announced block', async () => {
  const { calls, status } = await callsOfAnnounced(
    (block) => block,
    (chain) => chain.drop(1),
  )
  expect(calls).toEqual(['range,2,2', 'head'])
  expect(status).toMatchObject({ head: 1, indexed: 1, error: null, lastError: null })
})

test('the head is read when the announced block is not above a head that was read', async () => {
  const { chain, indexer, clock, waits } = await setUpIndexed(1)
  const loop = start(indexer)
  await until('the wait', () => waits().length === 1)
  chain.mine(2)
  // The range fails, so that the checkpoint stays behind the head that was read.
  chain.intercept = failing('range', [down()])
  chain.wake()
  await until('the backoff', () => waits().length === 2)
  chain.calls.length = 0
  chain.wake(chain.at(2))
  await clock.advance(30_000)
  expect(indexer.status().indexed).toBe(3)
  await loop.stop()
  expect(chain.calls.map(String).slice(0, 2)).toEqual(['head', 'range,2,3'])
})

test('the head is read at the latest 30 seconds after its last read, whatever is announced', async () => {
  const { chain, indexer, clock, waits } = await setUpIndexed(1, { pollMs: 60_000 })
  const loop = start(indexer)
  await until('the wait', () => waits().length === 1)
  chain.calls.length = 0
  for (const [nth, ms] of [29_999, 1].entries()) {
    await clock.advance(ms)
    chain.mine(1)
    chain.wake(chain.at(2 + nth))
    await until('the next wait', () => waits().length === 2 + nth)
  }
  await loop.stop()
  expect(chain.calls.map(String)).toEqual(['range,2,2', 'head', 'range,3,3'])
})
