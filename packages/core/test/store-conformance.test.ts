/** The store in memory keeps the promises of the Store port: the core's tests rely on it. @module */
import { storeConformance } from '../conformance/store-conformance.js'
import { memoryStore } from './support/memory-store.js'

storeConformance('memory', async () => {
  let now = 1_700_000_000_000
  const store = memoryStore({ now: () => now })
  return {
    store,
    advanceClock(ms) {
      now += ms
    },
    close: () => store.close(),
  }
})
