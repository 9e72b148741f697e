/** The store in memory passes the tests of identity, too: the core's tests rely on it. */
import { memoryStore } from '../../test/support/memory-store.js'
import type { Store } from '../ports/store.js'
import { identityTests } from './identity.js'
import { storeTests } from './subject.js'

const test = storeTests(async () => {
  let now = 1_700_000_000_000
  const memory = memoryStore({ now: () => now })
  return {
    store: { ...memory, migrate: async () => undefined } as Partial<Store> as Store,
    advanceClock(ms) {
      now += ms
    },
    close: async () => undefined,
  }
})
identityTests('memory', test)
