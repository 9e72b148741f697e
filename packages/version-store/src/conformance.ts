/** The tests that every version store passes, for adapters inside and outside of this repository. Runs under vitest. @module */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { concurrencyCases } from './conformance/concurrency.js'
import type { Case, ConformanceFixture } from './conformance/fixture.js'
import { inputCases } from './conformance/input.js'
import { interleavingCases } from './conformance/interleavings.js'
import { orderCases } from './conformance/order.js'

export type { ConformanceFixture } from './conformance/fixture.js'

/** What an adapter cannot do. */
export interface ConformanceOptions {
  /**
   * Tests that the adapter cannot pass, by name, with the reason, which is printed. They run all the same and must fail, so that an
   * excuse ends with its reason. A name that is no test is refused.
   */
  readonly excuse?: readonly { readonly test: string; readonly reason: string }[] | undefined
}

/**
 * Registers the suite.
 * @param adapter - Its name in the test report.
 * @param open - Yields an empty store on a fresh database; called once per test.
 * @throws {RangeError} When `excuse` names a test that there is not.
 * @example versionStoreConformance('postgres', () => openFixture())
 */
export function versionStoreConformance<Tx>(
  adapter: string,
  open: () => Promise<ConformanceFixture<Tx>>,
  options: ConformanceOptions = {},
): void {
  const cases: Case<Tx>[] = [
    ...orderCases<Tx>(),
    ...concurrencyCases<Tx>(),
    ...inputCases<Tx>(),
    ...interleavingCases<Tx>(),
  ]
  const excuses = new Map(options.excuse?.map(({ test: name, reason }) => [name, reason]))
  for (const name of excuses.keys())
    if (!cases.some((one) => one.name === name))
      throw new RangeError(`excuse names "${name}", which is no test of the suite.`)

  describe(`${adapter} is a version store`, () => {
    let fixture: ConformanceFixture<Tx> | undefined
    beforeEach(async () => {
      fixture = await open()
    })
    afterEach(async () => {
      await fixture?.close?.()
      fixture = undefined
    })
    for (const { name, run } of cases) {
      const reason = excuses.get(name)
      const register = reason === undefined ? test : test.fails
      register(reason === undefined ? name : `${name} (cannot: ${reason})`, { timeout: 60_000 }, async () => {
        expect(fixture, 'open() gave no fixture').toBeDefined()
        if (fixture) await run(fixture)
      })
    }
  })
}
