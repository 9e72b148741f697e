/** Tests: what happens at once happens one after the other. @module */
import type { StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { deferred } from '../../../core/test/support/until.js'
import { account } from './accounts.js'
import * as fixtures from './fixtures.js'
import { legacyKey } from './legacy-keys.js'
import { operator } from './operators.js'
import { hashOf } from './sessions.js'
import type { StoreTest } from './subject.js'

const { address, hash, indexPayments, insertUpdate, integration, listed, numbered, primary, waiting } = fixtures

const turn = () => new Promise((resolve) => setImmediate(resolve))

export function concurrencyTests(test: StoreTest): void {
  test('two stores that index a chain at once commit each height once', async ({ store, twoStores }) => {
    const stores = await twoStores()
    const committed: number[] = []
    const indexer = async (store: Store) => {
      for (let turnsLeft = 15; turnsLeft > 0; turnsLeft -= 1) {
        const expected = (await store.payments.checkpoint(1))?.blockNumber ?? 0
        const done = await store.transaction(async (tx) => {
          if (((await tx.lockChain(1))?.blockNumber ?? 0) !== expected) return false
          await indexPayments(tx, [primary({ txHash: hash(expected + 1) })])
          await tx.setCheckpoint(1, { blockNumber: expected + 1, blockHash: hash(expected + 1) })
          return true
        })
        if (done) committed.push(expected + 1)
      }
    }
    await Promise.all(stores.map(indexer))
    expect(committed.sort((a, b) => a - b)).toEqual(committed.map((_, n) => n + 1))
    expect(await listed(store)).toHaveLength(committed.length)
  })

  test('an update that shares the chain waits for the indexer and then sees its payment', async ({ store }) => {
    const started = deferred()
    const indexer = store.transaction(async (tx) => {
      await tx.lockChain(1)
      started.resolve()
      for (let n = 0; n < 20; n += 1) await turn()
      await tx.upsertPayments([primary()])
    })
    await started.promise
    const found = store.transaction(async (tx) => {
      await tx.shareChain(1)
      return tx.paymentsForChange({ chainId: 1, txHash: hash(1) })
    })
    await indexer
    expect(await found).toHaveLength(1)
  })

  test('of ten inserts of one key at once one wins', async ({ twoStores }) => {
    const stores = await twoStores()
    const inserts: Readonly<Record<string, (tx: StoreTransaction, n: number) => Promise<boolean>>> = {
      integration: ({ integrations }) => integrations.insert(integration()),
      account: ({ accounts }, n) => accounts.insert(account({ address: address(n) })),
      'legacy key': ({ legacyKeys }, n) => legacyKeys.insert(legacyKey({ id: `key-${n}` })),
      operator: ({ operators }, n) => operators.insert(operator({ link: { hash: hashOf(n), expiresAt: n } })),
      update: (tx) => insertUpdate(tx, waiting()),
    }
    for (const [what, insert] of Object.entries(inserts)) {
      const on = (n: number) => stores[n % 2 === 0 ? 0 : 1].transaction((tx) => insert(tx, n))
      expect((await Promise.all(Array.from({ length: 10 }, (_, n) => on(n)))).filter(Boolean), what).toHaveLength(1)
    }
  })

  test('ten indexers that store the same payments at once insert each once', async ({ store }) => {
    const given = numbered(50)
    const upsert = () => store.transaction((tx) => tx.upsertPayments(given))
    const inserted = await Promise.all(Array.from({ length: 10 }, upsert))
    expect(inserted.flatMap((upserted) => upserted.inserted)).toHaveLength(50)
    expect(await listed(store)).toHaveLength(50)
  })

  test('30 transactions, half of which fail, keep exactly the other half', async ({ store }) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) =>
        store.transaction(async (tx) => {
          await indexPayments(tx, [primary({ txHash: hash(n) })])
          await turn()
          if (n % 2 === 1) throw new Error(`number ${n}`)
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(outcomes.map((_, n) => n % 2 === 0))
    const kept = await listed(store)
    expect(kept.map(({ txHash }) => Number(txHash) % 2)).toEqual(Array(15).fill(0))
  })
}
