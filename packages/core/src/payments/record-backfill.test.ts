import { describe, expect, test } from 'vitest'
import { fakeRouter } from '../../test/support/fake-chain.js'
import { recorder } from '../../test/support/recorder.js'
import { hashOf } from '../../test/support/stored-payment.js'
import type { BlockRange } from '../ports/chain.js'
import { recordBackfill } from './record-range.js'

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
    backfill: (range: BlockRange) => recordBackfill(parts.store, { chainId: 1, range, coverage }),
  }
}

describe('a backfill', () => {
  test('stores the payments of the router and its coverage', async () => {
    const { store, range, backfill, stored, snapshots } = await indexed()
    expect(await backfill(range)).toMatchObject([
      { type: 'payment.additional', txHash: hashOf('own'), ordinal: 1 },
      { type: 'payment.indexed', txHash: hashOf('new') },
    ])
    expect(stored('new')).toMatchObject({ version: 1, primary: true, router: added })
    expect(snapshots('new')).toEqual([[1, null]])
    expect(await store.chains.coverage(1)).toEqual([{ router: added.address, from: 1, to: 6 }])
  })

  test('stores a weaker proof level with its node, and no equal or stronger one', async () => {
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

  test('overwrites no payment of another router in the same transaction', async () => {
    const { range, backfill, stored } = await indexed()
    const own = stored('own')
    await backfill(range)
    expect(stored('own')).toEqual(own)
    expect(stored('own')).toMatchObject({ router: { address: fakeRouter }, logIndex: 1 })
    expect(stored('own', 1)).toMatchObject({ router: added, logIndex: 0, primary: false })
  })

  test('above the checkpoint is rejected', async () => {
    const { store, range, backfill, unwind } = await indexed()
    await unwind(5)
    const before = store.dump()
    await expect(backfill(range)).rejects.toMatchObject({ code: 'ERR_CHECKPOINT_MOVED' })
    expect(store.dump()).toEqual(before)
  })

  test('of another branch is rejected', async () => {
    const { chain, store, range, backfill, unwind, advance } = await indexed()
    chain.fork(6)
    await unwind(4)
    await advance()
    const before = store.dump()
    await expect(backfill(range)).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
    expect(store.dump()).toEqual(before)
  })
})
