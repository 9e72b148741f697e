/** Tests: how blocks were proven, and which were read for which router. @module */
import type { ProofLevel, ProvenRange, Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { address, hash } from './fixtures.js'
import { runSeed, seeded } from './random.js'
import type { StoreTest } from './subject.js'

const range = (from: number, to: number, proof: ProofLevel = 'bloom', node = 'node #1'): ProvenRange => {
  return { from, to, proof, node }
}

async function add(store: Store, chainId: number, ...ranges: ProvenRange[]): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.lockChain(chainId)
    for (const each of ranges) await tx.addProof(chainId, each)
  })
}

/** The proof level with which a note begins. */
const strength = (note: string) => ['none', 'bloom', 'root'].findIndex((level) => note.startsWith(level))

const seed = runSeed()
const heights = 40
export function proofTests(test: StoreTest): void {
  test('proofs are listed from the newest range down, of one chain, with any text as the node', async ({ store }) => {
    const other = range(20, 29, 'root', 'node\u0000 #2')
    await add(store, 1, range(10, 19), other)
    await add(store, 10, range(5, 6, 'none'))
    expect(await store.chains.proofs(1, 10)).toEqual([other, range(10, 19)])
    expect(await store.chains.proofs(1, 1)).toEqual([other])
    expect(await store.chains.proofs(10, 10)).toEqual([range(5, 6, 'none')])
  })

  test('a checkpoint that is moved down forgets how the blocks above it were proven', async ({ store }) => {
    const at = (blockNumber: number) => ({ blockNumber, blockHash: hash(blockNumber) })
    await store.transaction(async (tx) => {
      await tx.lockChain(1)
      await tx.setCheckpoint(1, at(50))
      await tx.addProof(1, range(0, 20))
      await tx.addProof(1, range(21, 40, 'root'))
      await tx.addProof(1, range(41, 50))
      await tx.addProof(10, range(0, 50))
      await tx.setCheckpoint(1, at(30))
    })
    expect(await store.chains.proofs(1, 10)).toEqual([range(21, 30, 'root'), range(0, 20)])
    expect(await store.chains.proofs(10, 10)).toEqual([range(0, 50)])
  })

  test(`after any notes a block has its newest or weaker one, in longest ranges (seed ${seed})`, async ({ store }) => {
    const random = seeded(seed)
    const below = (limit: number) => Math.floor(random() * limit)
    const blocks: (string | undefined)[] = Array(heights).fill(undefined)
    for (let round = 0; round < 60; round += 1) {
      const from = below(heights)
      const to = from + below(Math.min(heights - from, 12))
      const given = range(from, to, (['root', 'bloom', 'none'] as const)[below(3)], `node #${below(2)}`)
      const note = `${given.proof} ${given.node}`
      const again = random() < 0.3
      for (let block = from; block <= to; block += 1) {
        const noted = again ? blocks[block] : undefined
        blocks[block] = noted === undefined || strength(given.proof) < strength(noted) ? note : noted
      }
      await store.transaction(async (tx) => {
        await tx.lockChain(1)
        await (again ? tx.addWeakerProof(1, given) : tx.addProof(1, given))
      })
      const proofs = await store.chains.proofs(1, heights)
      const found = proofs.map(({ from, to, proof, node }) => [from, to, `${proof} ${node}`])
      expect(found, `round ${round}`).toEqual(runs(blocks).reverse())
    }
  })

  test('the coverage of a router is the last stored one, by chain and router', async ({ store }) => {
    expect(await store.chains.coverage(1)).toEqual([])
    const [one, two] = [address(1), address(2)]
    await store.transaction(async (tx) => {
      await tx.setCoverage(1, { router: two, from: 100, to: 99 })
      await tx.setCoverage(1, { router: one, from: 0, to: null })
      await tx.setCoverage(10, { router: one, from: 7, to: 7 })
    })
    expect(await store.chains.coverage(1)).toEqual([
      { router: one, from: 0, to: null },
      { router: two, from: 100, to: 99 },
    ])
    await store.transaction(async (tx) => {
      await tx.setCoverage(1, { router: two, from: 50, to: null })
      await tx.setCoverage(1, { router: one, from: 0, to: 3 })
    })
    expect(await store.chains.coverage(1)).toEqual([
      { router: one, from: 0, to: 3 },
      { router: two, from: 50, to: null },
    ])
    expect(await store.chains.coverage(10)).toEqual([{ router: one, from: 7, to: 7 }])
  })
}

/** Groups consecutive equal values; heights without a value are left out. */
function runs(values: readonly (string | undefined)[]): [number, number, string][] {
  const found: [number, number, string][] = []
  for (const [place, value] of values.entries()) {
    const last = found.at(-1)
    if (value === undefined) continue
    if (last !== undefined && last[1] === place - 1 && last[2] === value) last[1] = place
    else found.push([place, place, value])
  }
  return found
}
