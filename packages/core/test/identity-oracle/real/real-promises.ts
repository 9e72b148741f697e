/** The oracle over the use cases of identity, on SQLite. @module */
import { expect, test } from 'vitest'
import { firstFinding, report, seedsAsked } from '../history.js'
import { realSystem } from './real-system.js'

/** Registers the test. @param options.count - Histories, from the first seed on. */
export function testPromises({ count }: { readonly count: number }): void {
  test(`the use cases break no rule in ${count} histories`, async () => {
    const finding = await firstFinding(seedsAsked(count), () => realSystem())
    expect(finding && report(finding)).toBeNull()
  })
}
