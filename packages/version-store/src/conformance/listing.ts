/** Tests of listings. All names begin with "a listing", so one excuse covers a store that cannot list. @module */
import type { ListingVersionStore, PaymentKey, VersionStore } from '../version-store.js'
import type { Cases, ConformanceFixture } from './fixture.js'
import { at, deferred, deliver, equal, expectFailure, expectFailureField, holds, runForEach } from './fixture.js'

/** More payments than any adapter reads at once. */
const many = 1_100

export const listingCases: Cases = {
  async 'a listing of an empty store is empty'(fixture) {
    equal(await listTexts(fixture), [])
  },
  async 'a listing has each payment of its integration, and none of another'(fixture) {
    const { store } = fixture
    const { integrationAddress } = at(1)
    const otherAddresses = [`${integrationAddress}0`, integrationAddress.slice(0, -1), '*', '%', '"', '[', '0x{}']
    const keys = [at(1), { ...at(1, 2), chainId: '1' }, { ...at(1, 2), chainId: '10' }, { ...at(1), txHash: ']}' }]
    for (const key of keys) await store.advance({ ...key, version: 2 }, () => undefined)
    await store.advance({ ...at(7), integrationAddress: integrationAddress.toUpperCase() }, () => undefined)
    for (const other of otherAddresses) await store.advance({ ...at(1, 9), integrationAddress: other }, () => undefined)
    equal(await listTexts(fixture), toSortedTexts(keys))
    equal(await listTexts(fixture, integrationAddress.toUpperCase()), toSortedTexts(keys))
    for (const other of otherAddresses)
      equal(await listTexts(fixture, other), toSortedTexts([{ ...at(1, 9), integrationAddress: other }]))
  },
  async 'a listing of many payments on two chains is whole, also while others are stored, and these again'({
    store,
    listsAgain = false,
  }) {
    const keys = Array.from({ length: many }, (_, index) => ({ ...at(1, index), chainId: index % 2 ? '1' : '8453' }))
    await runForEach(keys, 10, async (key) => void (await store.advance(key, () => undefined)))
    const listedKeys = new Set<string>()
    let count = 0
    for await (const key of requireListing(store).list(at(1).integrationAddress)) {
      if (count % 100 === 0) {
        await store.advance(at(1, many + count), () => undefined)
        await store.advance({ ...key, version: 2 }, () => undefined)
      }
      count += 1
      listedKeys.add(toText(key))
    }
    const missing = toSortedTexts(keys).filter((key) => !listedKeys.has(key))
    equal(missing, [])
    if (!listsAgain) equal(count, listedKeys.size, 'each payment once')
  },
  async 'a listing has no payment whose effect failed or still runs'(fixture) {
    const { store } = fixture
    await expectFailure(deliver(fixture, at(1, 1), new Error('this effect was told to fail')))
    const turns = await countTurns(listTexts(fixture))
    equal(await listTexts(fixture), [])
    const started = deferred()
    const release = deferred()
    const slow = store.advance(at(1, 2), async () => {
      started.resolve()
      await release.promise
    })
    await started.promise
    // A listing may wait for the effect or answer at once. One that does not wait ends within these turns.
    const seenKeys: PaymentKey[] = []
    const early = listTexts(fixture, at(1).integrationAddress, seenKeys)
    await countTurns(early, 10 * turns + 10)
    const whileItRan = toSortedTexts(seenKeys)
    release.resolve()
    equal(await slow, 'apply')
    equal(whileItRan, [], 'while the effect runs')
    const keys = await early
    if (keys.length > 0) equal(keys, toSortedTexts([at(1, 2)]))
    equal(await listTexts(fixture), toSortedTexts([at(1, 2)]))
  },
  async 'a listing of an address that is empty or no string is rejected'({ store }) {
    for (const address of ['', undefined, null, 5]) {
      const listed = requireListing(store).list(address as string)
      const first = listed[Symbol.asyncIterator]().next()
      equal(await expectFailureField(first, 'name'), 'TypeError', `of ${address}`)
    }
  },
  async 'a listing that an effect asks of its own store is rejected instead of waiting for itself'(fixture) {
    const call = fixture.store.advance(at(1), async () => void (await listTexts(fixture)))
    equal(await expectFailureField(call, 'code'), 'ERR_EFFECT_REENTRANT')
    equal(await deliver(fixture, at(1)), 'apply')
  },
}

function requireListing<Tx>(store: VersionStore<Tx>): ListingVersionStore<Tx> {
  holds(typeof (store as Partial<ListingVersionStore<Tx>>).list === 'function', 'the store has list()')
  return store as ListingVersionStore<Tx>
}

/** Lists the keys as texts, sorted. @param seenKeys - Receives the keys as they arrive. */
async function listTexts<Tx>(
  { store, listsAgain = false }: ConformanceFixture<Tx>,
  address = at(1).integrationAddress,
  seenKeys: PaymentKey[] = [],
): Promise<string[]> {
  for await (const key of requireListing(store).list(address)) seenKeys.push(key)
  const texts = toSortedTexts(seenKeys)
  return listsAgain ? [...new Set(texts)] : texts
}

function toSortedTexts(keys: readonly PaymentKey[]): string[] {
  return keys.map(toText).sort()
}

function toText({ integrationAddress, chainId, txHash }: PaymentKey): string {
  return JSON.stringify([integrationAddress, chainId, txHash])
}

/** The number of turns of the event loop until the work is done, at most `maxTurns`. */
async function countTurns(work: Promise<unknown>, maxTurns = Number.POSITIVE_INFINITY): Promise<number> {
  let done = false
  let turns = 0
  const end = () => {
    done = true
  }
  work.then(end, end)
  for (; !done && turns < maxTurns; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
  return turns
}
