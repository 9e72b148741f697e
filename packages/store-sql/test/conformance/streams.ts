/** Tests: the stream of an integration's deliveries. @module */
import type { StreamedDelivery } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as fixtures from './fixtures.js'
import { runSeed, seeded } from './random.js'
import { type StoreTest, withShop } from './subject.js'

const { answered, claimOne, hash, indexed, indexPayments, integration, makeBody, nextVersion, otherShop } = fixtures
const { primary, settleOne, shop } = fixtures

/** The id up to which the deliveries are complete, once it is known. */
async function known(store: Store): Promise<string> {
  for (;;) {
    const id = await store.deliveries.completeUpTo()
    if (id !== null) return id
  }
}

/** Every delivery of an integration after an id, in parts of `limit`. */
async function readAll(store: Store, integrationAddress: string, from = '0', limit = 2): Promise<StreamedDelivery[]> {
  const upToId = await known(store)
  const all: StreamedDelivery[] = []
  for (let afterId = from; ; ) {
    const part = await store.deliveries.stream({ integrationAddress, afterId, upToId, limit })
    all.push(...part)
    if (part.length < limit) return all
    afterId = part.at(-1)?.deliveryId ?? afterId
  }
}

const getNames = (deliveries: readonly StreamedDelivery[]) =>
  deliveries.map(({ txHash, version }) => `${txHash} ${version}`)
export function streamTests(plain: StoreTest): void {
  const test = withShop(plain)
  test('a stream has the snapshot bytes of all deliveries of its integration, in order', async ({ store }) => {
    await fixtures.insertIntegration(store, integration({ address: otherShop }))
    const first = await indexed(store, { txHash: hash(1) })
    await settleOne(store, await claimOne(store), answered, { kind: 'delivered' })
    const other = await indexed(store, { txHash: hash(2), integrationAddress: otherShop })
    await indexed(store, { txHash: hash(3), chainId: 10 })
    await nextVersion(store, first)
    const streamed = await readAll(store, shop)
    expect(getNames(streamed)).toEqual([`${hash(1)} 1`, `${hash(3)} 1`, `${hash(1)} 2`])
    expect(streamed.map(({ chainId }) => chainId)).toEqual([1, 10, 1])
    expect(streamed[2]?.body).toEqual(makeBody(first.id, 2))
    const views = await store.deliveries.list({ integrationAddress: shop, limit: 10 })
    expect(streamed.map(({ deliveryId, createdAt }) => [deliveryId, createdAt])).toEqual(
      views.map(({ deliveryId, createdAt }) => [deliveryId, createdAt]),
    )
    expect((await readAll(store, otherShop)).map(({ body }) => body)).toEqual([makeBody(other.id, 1)])
  })

  test('a stream goes on after any of its deliveries, and not beyond its end', async ({ store }) => {
    for (let n = 1; n <= 5; n += 1) await indexed(store, { txHash: hash(n) })
    const all = await readAll(store, shop)
    expect(all).toHaveLength(5)
    for (const [place, { deliveryId }] of all.entries()) {
      expect(getNames(await readAll(store, shop, deliveryId))).toEqual(getNames(all.slice(place + 1)))
      const upTo = { integrationAddress: shop, afterId: '0', upToId: deliveryId, limit: 10 }
      expect(await store.deliveries.stream(upTo)).toEqual(all.slice(0, place + 1))
    }
  })

  test('a store without deliveries is complete up to `0`, and later up to the newest delivery', async ({ store }) => {
    expect(await known(store)).toBe('0')
    expect(await readAll(store, shop)).toEqual([])
    await indexed(store)
    expect(await known(store)).toBe(await store.deliveries.newestId({}))
  })

  const seed = runSeed()
  test(`a reader behind several writers gets each delivery once (seed ${seed})`, async ({ store, openAnother }) => {
    const random = seeded(seed)
    const others = await Promise.all([0, 1].map(async () => openAnother()))
    let isWriting = true
    const write = async (writer: Store, n: number) => {
      for (let round = 0; round < 12; round += 1) {
        const numbers = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, place) => place)
        await writer.transaction(async (tx) => {
          for (const place of numbers) {
            const txHash = hash(1_000 * n + 10 * round + place)
            await indexPayments(tx, [primary({ txHash })])
          }
        })
      }
    }
    const writers = Promise.all([store, ...others].map((writer, n) => write(writer, n + 1))).finally(() => {
      isWriting = false
    })
    // Its error is reported below.
    writers.catch(() => undefined)
    const seen: StreamedDelivery[] = []
    for (let isLast = false; !isLast; ) {
      // A store may answer without leaving this turn of the event loop: the writers need one.
      await new Promise((resolve) => setImmediate(resolve))
      isLast = !isWriting
      seen.push(...(await readAll(store, shop, seen.at(-1)?.deliveryId, 50)))
    }
    await writers
    const stored = await store.deliveries.list({ limit: 1_000 })
    expect(seen.map(({ deliveryId }) => deliveryId)).toEqual(stored.map(({ deliveryId }) => deliveryId))
  })
}
