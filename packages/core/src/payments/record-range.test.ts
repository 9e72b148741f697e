import { expect, test } from 'vitest'
import { applyUpdate } from '../../test/support/apply-update.js'
import { fakeRouter } from '../../test/support/fake-chain.js'
import { recorder } from '../../test/support/recorder.js'
import { hashOf } from '../../test/support/stored-payment.js'
import { StoreError } from '../errors.js'
import type { Checkpoint } from '../indexer/chain-store.js'
import type { BlockRange } from '../ports/chain.js'
import { minStoredHashes, recordBackfill } from './record-range.js'

const only = (name: string, height: number) => (at: number) => (at === height ? [name] : [])

test('a commit stores payments, version 1, deposits, checkpoint and proof together, or nothing', async () => {
  const { chain, store, advance, checkpoint, stored, snapshots } = recorder()
  chain.mine(5, only('a', 3))
  store.failures.push(new StoreError('ERR_STORE_FULL', 'no space left'))
  const before = store.dump()
  await expect(advance()).rejects.toMatchObject({ code: 'ERR_STORE_FULL' })
  expect(store.dump()).toEqual(before)
  expect(await advance()).toMatchObject([{ type: 'payment.indexed', txHash: hashOf('a'), blockNumber: 3 }])
  expect(stored('a')).toMatchObject({ version: 1, state: null, offChain: false, dropped: null })
  expect(snapshots('a')).toEqual(['1 null'])
  expect(await checkpoint()).toEqual({ blockNumber: 5, blockHash: chain.at(5).hash })
  expect(await store.chains.proofs(1, 9)).toEqual([{ from: 0, to: 5, proof: 'root', node: 'node.test #1' }])
})

test.each([
  ['another hash', { blockNumber: 5, blockHash: 'another' }],
  ['nothing', null],
])('a commit that expects %s where something else is stored is rejected', async (_case, expected) => {
  const { chain, store, advance, record } = recorder()
  chain.mine(5)
  await advance()
  chain.mine(1, only('a', 6))
  const before = store.dump()
  const range = chain.rangeOf(6, 6)
  const parentHash = expected?.blockHash ?? range.first.parentHash
  const moved = record({ ...range, first: { ...range.first, parentHash } }, { expected })
  await expect(moved).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_CHANGED' })
  expect(store.dump()).toEqual(before)
})

test.each([
  ['skips a block', 7, 'ours'],
  ['repeats a block', 5, 'ours'],
  ['is of another branch', 6, 'stray'],
])('a commit of a range that %s is a RangeError', async (_case, number, parent) => {
  const { chain, advance, record, checkpoint } = recorder()
  chain.mine(8)
  await advance(5)
  const parentHash = parent === 'ours' ? chain.at(5).hash : parent
  const range = chain.rangeOf(number, 8)
  await expect(record({ ...range, first: { ...range.first, parentHash } })).rejects.toThrow(RangeError)
  expect(await checkpoint()).toMatchObject({ blockNumber: 5 })
})

test.each([
  ['the least number of hashes', 10, minStoredHashes],
  ['as many hashes as a block needs to be final', 300, 300],
])('a commit keeps %s below the head', async (_case, finalityBlocks, kept) => {
  const { chain, advance, store } = recorder(finalityBlocks)
  chain.mine(1_000)
  await advance(500)
  await advance(990)
  const heights = await store.transaction((tx) => tx.checkpoints(1, 2_000, 2_000))
  const lowest = 1_000 - kept
  const stored = [...Array.from({ length: 991 - lowest }, (_, n) => 990 - n), 500]
  expect(heights.map(({ blockNumber }) => blockNumber)).toEqual(stored)
  for (const { blockNumber, blockHash } of heights) expect(blockHash).toBe(chain.at(blockNumber).hash)
})

/** `a` in block 5, which leaves; the chain is indexed to 4 again, and blocks without it follow up to `to`. */
async function left(to: number, finalityBlocks: number | null = 10) {
  const parts = recorder(finalityBlocks)
  parts.chain.mine(5, only('a', 5))
  await parts.advance()
  parts.chain.fork(1)
  parts.chain.mine(to - 5)
  await parts.unwind(4)
  return parts
}

test('a payment that left the chain is unchanged until its height is final, then fails with the next version', async () => {
  const { chain, advance, stored, snapshots } = await left(14)
  expect(await advance()).toEqual([])
  expect(stored('a')).toMatchObject({ version: 1, state: null, offChain: true, dropped: null })
  chain.mine(1)
  const { integrationAddress } = stored('a')
  const failed = { type: 'payment.changed', version: 2, from: null, to: 'failure', chainId: 1, txHash: hashOf('a') }
  expect(await advance()).toEqual([{ ...failed, integrationAddress }])
  expect(stored('a')).toMatchObject({ version: 2, state: 'failure', offChain: true, dropped: { formerState: null } })
  chain.mine(50)
  expect(await advance()).toEqual([])
  expect(snapshots('a')).toEqual(['1 null', '2 failure'])
})

test('a payment that left the chain is not dropped by the commit that brings it back, at any later time', async () => {
  const { chain, advance, stored } = await left(30)
  chain.mine(1, () => ['a'])
  expect(await advance()).toEqual([])
  expect(stored('a')).toMatchObject({ version: 1, blockNumber: 31, offChain: false, dropped: null })
})

test.each([
  ['null', null, 4],
  ['pending', 'pending', 5],
  ['success', 'success', 5],
] as const)('a payment that left the chain as %s has that state again when it returns', async (_case, state, last) => {
  const { chain, store, advance, unwind, stored, snapshots } = await left(14)
  const update = { id: 'u', chainId: '1', txHash: hashOf('a'), state: state ?? undefined }
  if (state !== null) await applyUpdate(store, update)
  chain.mine(1)
  await advance()
  chain.mine(1, () => ['a'])
  const version = last - 1
  expect(await advance()).toMatchObject([{ type: 'payment.changed', version, from: 'failure', to: state }])
  expect(stored('a')).toMatchObject({ version, state, blockNumber: 16, offChain: false, dropped: null })
  expect(snapshots('a').slice(-2)).toEqual([`${version - 1} failure`, `${version} ${state}`])
  // And leaves once more.
  chain.fork(1)
  chain.mine(10)
  await unwind(15)
  expect(await advance()).toMatchObject([{ version: last, from: state, to: 'failure' }])
})

test('a payment that left the chain makes no version when it had failed before, neither on leaving nor on returning', async () => {
  const { chain, store, advance, stored } = await left(14)
  await applyUpdate(store, { id: 'u', chainId: '1', txHash: hashOf('a'), state: 'failure' })
  chain.mine(1)
  expect(await advance()).toEqual([])
  expect(stored('a')).toMatchObject({ version: 2, dropped: { formerState: 'failure' } })
  chain.mine(1, () => ['a'])
  expect(await advance()).toEqual([])
  expect(stored('a')).toMatchObject({ version: 2, state: 'failure', dropped: null, offChain: false })
})

test('a payment that left the chain keeps the state that a processor set after the drop', async () => {
  const { chain, store, advance, stored } = await left(15)
  await advance()
  await applyUpdate(store, { id: 'u', chainId: '1', txHash: hashOf('a'), state: 'refund_pending' })
  chain.mine(1, () => ['a'])
  expect(await advance()).toEqual([])
  expect(stored('a')).toMatchObject({ version: 3, state: 'refund_pending', dropped: null })
})

test('a payment that left the chain and that area (a) does not show is dropped without a version', async () => {
  const parts = recorder()
  const twice = [{ name: 'a' }, { name: 'a', ordinal: 1 }]
  parts.chain.mine(5, (at) => (at === 5 ? twice : []))
  await parts.advance()
  parts.chain.fork(1)
  parts.chain.mine(10)
  await parts.unwind(4)
  expect(await parts.advance()).toHaveLength(1)
  const dropped = { formerState: null }
  expect(parts.stored('a', 1)).toMatchObject({ primary: false, version: 1, state: null, dropped })
  parts.chain.mine(1, () => twice)
  expect(await parts.advance()).toHaveLength(1)
  expect(parts.stored('a', 1)).toMatchObject({ version: 1, state: null, dropped: null, offChain: false })
})

const added = { address: `0x${'77'.repeat(20)}`, version: '0.9' }

/**
 * Ten blocks, indexed with one router; `own` in block 3 is of it, `new` in block 4 and a second payment of `own` are of
 * another one.
 */
async function indexed() {
  const parts = recorder()
  parts.chain.mine(10, (at) => {
    if (at === 4) return [{ name: 'new', router: added }]
    return at === 3
      ? [
          { name: 'own', router: added, logIndex: 0 },
          { name: 'own', logIndex: 1 },
        ]
      : []
  })
  await parts.advance()
  const coverage = { router: added.address, from: 1, to: 6 }
  return {
    ...parts,
    range: parts.chain.rangeOf(1, 6, [added.address]),
    async backfill(range: BlockRange, given?: Checkpoint | null) {
      const expected = given ?? (await parts.checkpoint())
      return recordBackfill(parts.store, { chainId: 1, range, coverage, expected, recording: 'all' })
    },
  }
}

test('a backfill stores the payments of the router and its coverage, and overwrites none of another router', async () => {
  const { store, range, backfill, stored, snapshots } = await indexed()
  const own = stored('own')
  expect(await backfill(range)).toMatchObject([
    { type: 'payment.additional', txHash: hashOf('own'), ordinal: 1 },
    { type: 'payment.indexed', txHash: hashOf('new') },
  ])
  expect(stored('new')).toMatchObject({ version: 1, primary: true, router: added })
  expect(snapshots('new')).toEqual(['1 null'])
  expect(await store.chains.coverage(1)).toEqual([{ router: added.address, from: 1, to: 6 }])
  expect(stored('own')).toEqual(own)
  expect(own).toMatchObject({ router: { address: fakeRouter }, logIndex: 1 })
  expect(stored('own', 1)).toMatchObject({ router: added, logIndex: 0, primary: false })
})

test('a backfill stores a weaker proof level with its node, and no equal or stronger one', async () => {
  const { store, range, backfill, record, chain } = await indexed()
  chain.mine(1)
  await record({ ...chain.rangeOf(11, 11), proof: 'bloom' })
  const noted = await store.chains.proofs(1, 9)
  const [newest, rest] = noted
  expect([newest?.proof, rest?.proof]).toEqual(['bloom', 'root'])
  await backfill({ ...range, node: 'other' })
  expect(await store.chains.proofs(1, 9)).toEqual(noted)
  await backfill({ ...range, node: 'other', proof: 'bloom' })
  const weaker = [newest, { ...rest, from: 7 }, { from: 1, to: 6, proof: 'bloom', node: 'other' }, { ...rest, to: 0 }]
  expect(await store.chains.proofs(1, 9)).toEqual(weaker)
  await backfill(range)
  expect(await store.chains.proofs(1, 9)).toEqual(weaker)
})

test('a backfill is rejected when the checkpoint is not the one that its process read', async () => {
  const { chain, store, range, backfill, checkpoint, advance } = await indexed()
  const expected = await checkpoint()
  chain.mine(1)
  await advance()
  const before = store.dump()
  await expect(backfill(range, expected)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_CHANGED' })
  expect(store.dump()).toEqual(before)
})

test.each<[string, string, (parts: ReturnType<typeof recorder>) => Promise<unknown>]>([
  ['above the checkpoint', 'ERR_CHECKPOINT_CHANGED', ({ unwind }) => unwind(5)],
  [
    'of another branch',
    'ERR_CHAIN_RANGE_GONE',
    async ({ chain, unwind, advance }) => {
      chain.fork(6)
      await unwind(4)
      await advance()
    },
  ],
])('a backfill %s is rejected', async (_case, code, prepare) => {
  const { store, range, backfill, ...parts } = await indexed()
  await prepare({ store, ...parts })
  const before = store.dump()
  await expect(backfill(range)).rejects.toMatchObject({ code })
  expect(store.dump()).toEqual(before)
})
