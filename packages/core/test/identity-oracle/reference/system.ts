/** A simple right system, written from the text alone, and its mutants. @module */
import type { SystemUnderTest } from '../system-under-test.js'
import type { Mutant } from './mutants.js'
import { referenceProcess } from './process.js'
import { emptyStore, viewOf } from './store.js'

export function referenceSystem(mutant?: Mutant): SystemUnderTest {
  const store = emptyStore(mutant)
  return {
    start(surroundings) {
      if (mutant === 'a start forgets what was in flight') {
        for (const row of store.redemptions) if (row.state === 'in_flight') row.state = 'absent'
      }
      return referenceProcess(store, surroundings)
    },
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    views: async () => viewOf(store),
    close: async () => {},
  }
}
