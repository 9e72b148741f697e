import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { onPostgres } from '../../test/support/on-postgres.js'
import { signal } from '../../test/support/signal.js'

const chainId = 137

onPostgres('the row of a chain', ({ admin, openMigrated }) => {
  it('is not shared past an indexer that waits for it, so updates without a pause never starve the indexer', async () => {
    const store = await openMigrated()
    // The first transaction inserts the row.
    await store.transaction((tx) => tx.lockChain(chainId))
    const granted: string[] = []
    const waiting = async (count: number) => {
      for (;;) {
        const { rows } = await admin().query(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        if (rows[0]?.count >= count || granted.length > 1) return
        await delay(5)
      }
    }
    const release = signal()
    const first = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('an update')
      await release.given
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
    release.give()
    await Promise.all([first, indexer, second])
    expect(granted).toEqual(['an update', 'the indexer', 'another update'])
  })
})
