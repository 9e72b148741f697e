import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../test/postgres.js'
import { createPostgresStore } from './create-postgres-store.js'

const chainId = 137

describe.skipIf(postgresMissing)('the row of a chain', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.remove())

  it('is not shared past an indexer that waits for it, so updates without a pause never starve the indexer', async () => {
    const store = createPostgresStore({ connectionString: database.connectionString })
    await store.migrate()
    // The first transaction inserts the row.
    await store.transaction((tx) => tx.lockChain(chainId))
    const client = new pg.Client({ connectionString: database.connectionString })
    await client.connect()
    const granted: string[] = []
    const waiting = async (count: number) => {
      for (;;) {
        const { rows } = await client.query(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        if (rows[0]?.count >= count || granted.length > 1) return
        await delay(5)
      }
    }
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('an update')
      await released
    })
    while (granted.length === 0) await delay(5)
    const indexer = store.transaction(async (tx) => {
      await tx.lockChain(chainId)
      granted.push('the indexer')
    })
    await waiting(1)
    const second = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('another update')
    })
    await waiting(2)
    release()
    await Promise.all([first, indexer, second])
    await client.end()
    await store.close()
    expect(granted).toEqual(['an update', 'the indexer', 'another update'])
  })
})
