/** Tests: which blocks were read for which router. @module */
import { expect } from 'vitest'
import { address } from './fixtures.js'
import type { StoreTest } from './subject.js'
export function coverageTests(test: StoreTest): void {
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
