/** The store in memory keeps the promises of the Store port: the core's tests rely on it. @module */
import { describe } from 'vitest'
import { auditTests } from '../conformance/audit.js'
import { auditChainTests } from '../conformance/audit-chains.js'
import { storeConformance } from '../conformance/store-conformance.js'
import { storeTests } from '../conformance/subject.js'
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

describe('memory with three audit chains: audit log', () => {
  const test = storeTests(async () => {
    const store = memoryStore({ auditChains: 3 })
    return { store, close: () => store.close() }
  })
  auditTests(test)
  auditChainTests(test)
})
