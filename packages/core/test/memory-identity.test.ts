/** The store in memory passes the tests of identity, too: the core's tests rely on it. */

import { identityTests } from '../conformance/identity.js'
import { storeTests } from '../conformance/subject.js'
import type { Store } from '../src/ports/store.js'
import { memoryStore } from './support/memory-store.js'

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
