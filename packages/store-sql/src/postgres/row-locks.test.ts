import { expect, it } from 'vitest'
import { lockIsAwaited, onPostgres } from '../../test/support/on-postgres.js'
import { signal } from '../../test/support/signal.js'

const chainId = 137

onPostgres('the row of a chain', ({ admin, openMigrated }) => {
  it('is not shared past an indexer that waits for it, so updates without a pause never starve the indexer', async () => {
    const store = await openMigrated()
    // The first transaction inserts the row.
    await store.transaction((tx) => tx.lockChain(chainId))
    const granted: string[] = []
    const waiting = (count: number) => lockIsAwaited((text) => admin().query(text), count)
    const [shared, release] = [signal(), signal()]
    const first = store.transaction(async (tx) => {
      await tx.shareChain(chainId)
      granted.push('an update')
      shared.give()
      await release.given
    })
    await shared.given
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
