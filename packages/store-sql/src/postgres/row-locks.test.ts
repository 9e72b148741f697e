import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { createPostgresStore } from './create-postgres-store.js'

/** Transactions of each loop: as many as end long after the lock, if that is granted in its turn. */
const most = 60
const loopCount = 8
const chainId = 137

describe.skipIf(postgresMissing)('the row of a chain', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.remove())

  it('is locked for an indexer in its turn, while updates share it without a pause', async () => {
    const store = createPostgresStore({ connectionString: database.connectionString })
    await store.migrate()
    let shared = 0
    let isLocked = false
    const share = async (pauseMs: number) => {
      await delay(pauseMs)
      for (let count = 0; count < most && !isLocked; count += 1)
        await store.transaction(async (tx) => {
          await tx.shareChain(chainId)
          shared += 1
          await delay(20)
        })
    }
    const loops = Array.from({ length: loopCount }, (_, n) => share(3 * n))
    while (shared < loopCount) await delay(5)
    await store.transaction((tx) => tx.lockChain(chainId))
    isLocked = true
    const before = shared
    await Promise.all(loops)
    await store.close()
    expect(before).toBeLessThan(loopCount * most)
  })
})
