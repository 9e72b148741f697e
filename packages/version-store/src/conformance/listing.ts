/** What a store says it holds. Names begin with "a listing", so that one excuse covers a store that has none. @module */
import type { ListingVersionStore, PaymentKey, VersionStore } from '../version-store.js'
import { equal, holds, reasonOf } from './assert.js'
import { at, type Case, deferred, deliver, forEachOf } from './fixture.js'

/** More than any adapter reads at once. */
const many = 1_100

/** Completeness, borders, and what is not there yet. */
export function listingCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'a listing of an empty store is empty',
      async run({ store }) {
        equal(await listed(store), [])
      },
    },
    {
      name: 'a listing has each payment of its integration, and none of another',
      async run({ store }) {
        const { integrationAddress } = at(1)
        const others = [`${integrationAddress}0`, integrationAddress.slice(0, -1), '*', '%', '"', '[', '0x{}']
        const keys = [at(1), { ...at(1, 2), chainId: '1' }, { ...at(1, 2), chainId: '10' }, { ...at(1), txHash: ']}' }]
        for (const key of keys) await store.advance({ ...key, version: 2 }, () => undefined)
        await store.advance({ ...at(7), integrationAddress: integrationAddress.toUpperCase() }, () => undefined)
        for (const other of others) await store.advance({ ...at(1, 9), integrationAddress: other }, () => undefined)
        equal(await listed(store), textsOf(keys))
        equal(await listed(store, integrationAddress.toUpperCase()), textsOf(keys))
        for (const other of others)
          equal(await listed(store, other), textsOf([{ ...at(1, 9), integrationAddress: other }]))
      },
    },
    {
      name: 'a listing of many payments on two chains is whole, also while others are stored',
      async run({ store }) {
        const keys = Array.from({ length: many }, (_, index) => ({
          ...at(1, index),
          chainId: index % 2 ? '1' : '8453',
        }))
        await forEachOf(keys, 10, async (key) => void (await store.advance(key, () => undefined)))
        const found = new Set<string>()
        for await (const key of listing(store).list(at(1).integrationAddress)) {
          if (found.size % 100 === 0) await store.advance(at(1, many + found.size), () => undefined)
          found.add(textOf(key))
        }
        equal(
          textsOf(keys).filter((key) => !found.has(key)),
          [],
        )
      },
    },
    {
      name: 'a listing has no payment whose effect failed or still runs',
      async run(fixture) {
        const { store } = fixture
        await reasonOf(deliver(fixture, at(1, 1), new Error('this effect was told to fail')))
        equal(await listed(store), [])
        const started = deferred()
        const release = deferred()
        let done = false
        const slow = store.advance(at(1, 2), async () => {
          started.resolve()
          await release.promise
          done = true
        })
        await started.promise
        // It may wait for the effect, or answer without it.
        const seen = listed(store).then((keys) => ({ keys, done }))
        release.resolve()
        equal(await slow, 'apply')
        const early = await seen
        if (early.keys.length > 0) equal(early, { keys: textsOf([at(1, 2)]), done: true })
        equal(await listed(store), textsOf([at(1, 2)]))
      },
    },
    {
      name: 'a listing of an address that is empty or no string is refused',
      async run({ store }) {
        for (const address of ['', undefined, null, 5]) {
          const first = listing(store)
            .list(address as string)
            [Symbol.asyncIterator]()
            .next()
          holds((await reasonOf(first)) instanceof TypeError, `${address} is a TypeError`)
        }
      },
    },
    {
      name: 'a listing that an effect asks of its own store is refused instead of waiting for itself',
      async run(fixture) {
        const refused = await reasonOf(fixture.store.advance(at(1), async () => void (await listed(fixture.store))))
        equal((refused as { code?: unknown }).code, 'ERR_EFFECT_REENTRANT')
        equal(await deliver(fixture, at(1)), 'apply')
      },
    },
  ]
}

function listing<Tx>(store: VersionStore<Tx>): ListingVersionStore<Tx> {
  holds(typeof (store as Partial<ListingVersionStore<Tx>>).list === 'function', 'the store has list()')
  return store as ListingVersionStore<Tx>
}

/** As texts, each once, sorted. */
async function listed<Tx>(store: VersionStore<Tx>, address = at(1).integrationAddress): Promise<string[]> {
  const keys: PaymentKey[] = []
  for await (const key of listing(store).list(address)) keys.push(key)
  return textsOf(keys)
}

function textsOf(keys: readonly PaymentKey[]): string[] {
  return [...new Set(keys.map(textOf))].sort()
}

function textOf({ integrationAddress, chainId, txHash }: PaymentKey): string {
  return JSON.stringify([integrationAddress, chainId, txHash])
}
