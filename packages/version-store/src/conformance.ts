/**
 * The tests that every version store passes, for adapters inside and outside of this repository.
 * They bring their own assertions and take the `test` of vitest, jest, node:test or bun:test.
 * {@link versionStoreCases} returns them for any other runner.
 * @module
 */
import { concurrencyCases, inputCases, orderCases } from './conformance/deliveries.js'
import type { OpenFixture } from './conformance/fixture.js'
import { ConformanceError, createFaultPlan } from './conformance/fixture.js'
import { listingCases } from './conformance/listing.js'
import { interleavingCases, scheduleCases } from './conformance/schedules.js'
import { sweepCases } from './conformance/sweep.js'

/** A test that an adapter cannot pass. */
export interface ConformanceExcuse {
  /** The name of a test, or a prefix, which names all tests that begin with it. */
  readonly test: string
  /** Why the adapter cannot pass it; printed with the test's name. */
  readonly reason: string
  /** `false` when the test would end the process: it is skipped, with its reason. @default true */
  readonly run?: boolean | undefined
}

/** `test` of vitest, jest, node:test or bun:test. */
export interface RegisterTest {
  /** The third argument is a time-out in milliseconds, for runners that take one. */
  (name: string, run: () => Promise<void>, timeoutMs: number): unknown
  /** Registers an excused test that must not run. Without this method such a test is left out. */
  skip?(name: string, run: () => Promise<void>): unknown
}

/** The runner's `test`, and the excuses of the adapter under test. */
export interface ConformanceOptions {
  /** Registers a test. */
  readonly test: RegisterTest
  /** Tests that the adapter cannot pass: they run and must fail. One that names no test is rejected. @default [] */
  readonly excuse?: readonly ConformanceExcuse[] | undefined
}

/** A test of the suite as a function. */
export interface ConformanceCase<Tx> {
  readonly name: string
  /** @throws `ConformanceError` When the store breaks its port. Errors of the store and of the fixture pass through. */
  run(open: OpenFixture<Tx>): Promise<void>
}

/** Lists all tests of the suite as functions, for a runner of your own; the most informative tests come first. */
export function versionStoreCases<Tx>(): ConformanceCase<Tx>[] {
  const deliveryCases = { ...orderCases, ...concurrencyCases, ...inputCases }
  const cases = { ...deliveryCases, ...listingCases, ...interleavingCases, ...scheduleCases, ...sweepCases }
  return Object.entries(cases).map(([name, run]) => ({
    name,
    async run(open) {
      const faults = createFaultPlan()
      const fixture = await open(faults)
      try {
        await run(fixture, faults)
      } finally {
        faults.disarm()
        await fixture.close?.()
      }
    },
  }))
}

/**
 * Registers the suite.
 * @param adapter - The adapter's name in the test report.
 * @param open - Yields an empty store on a fresh database; called once per test.
 * @throws {RangeError} When `excuse` names a test that does not exist.
 * @example
 * import { createSqliteFixture, versionStoreConformance } from '@payment-integration/version-store/conformance'
 * import { DatabaseSync } from '@photostructure/sqlite' // on Node 22.13 and later: 'node:sqlite'
 * import { test } from 'vitest'
 * const database = () => new DatabaseSync(':memory:')
 * versionStoreConformance('my driver', (faults) => createSqliteFixture(database(), faults), { test })
 */
export function versionStoreConformance<Tx>(
  adapter: string,
  open: OpenFixture<Tx>,
  { test: register, excuse = [] }: ConformanceOptions,
): void {
  const cases = versionStoreCases<Tx>()
  for (const excused of excuse)
    if (!cases.some(({ name }) => name.startsWith(excused.test)))
      throw new RangeError(`excuse names "${excused.test}", with which no test of the suite begins.`)

  for (const { name, run } of cases) {
    const excused = excuse.find((one) => name.startsWith(one.test))
    const title = `${adapter}: ${name}${excused === undefined ? '' : ` (cannot: ${excused.reason})`}`
    if (excused?.run === false) register.skip?.(title, () => run(open))
    else register(title, () => (excused === undefined ? run(open) : mustFail(run(open))), timeoutMs)
  }
}

/** For the slowest of the tests, the interleavings, on a database that flushes every commit. */
const timeoutMs = 120_000

async function mustFail(run: Promise<void>): Promise<void> {
  const hasPassed = await run.then(
    () => true,
    () => false,
  )
  if (hasPassed) throw new ConformanceError('The adapter passes this test: remove its excuse.')
}
