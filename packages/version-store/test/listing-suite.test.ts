/** The suite's tests of listings fail for stores that list wrongly, whatever their round trips take. */
import { expect, test } from 'vitest'
import { versionStoreCases } from '../src/exports/conformance.js'
import type { ListingVersionStore, PaymentKey } from '../src/exports/index.js'
import { createMemoryVersionStore, normalizeKey } from '../src/exports/index.js'

type Store = ListingVersionStore<undefined>

/** The names of the suite's tests that a store fails. */
async function failedBy(openStore: () => Store, listsAgain?: boolean): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of versionStoreCases<undefined>().filter((one) => one.name.startsWith('a listing')))
    await run(async () => ({
      store: openStore(),
      write: () => undefined,
      notes: async () => [],
      ...(listsAgain && { listsAgain }),
    })).catch((error: Error) => {
      expect(error.name).toBe('ConformanceError')
      failed.push(name)
    })
  return failed
}

/** Lists a payment while its effect still runs. */
function hasty(roundTrip: () => Promise<unknown>): Store {
  const store = createMemoryVersionStore()
  const running = new Map<object, PaymentKey>()
  return {
    ...store,
    advance: (payment, effect) =>
      store.advance(payment, async (tx) => {
        const { integrationAddress, chainId, txHash } = normalizeKey(payment)
        const one = { integrationAddress, chainId, txHash }
        running.set(one, one)
        try {
          await effect(tx)
        } finally {
          running.delete(one)
        }
      }),
    async *list(address) {
      const early = [...running.values()]
      await roundTrip()
      yield* early
      for await (const key of store.list(address)) if (!early.some(({ txHash }) => txHash === key.txHash)) yield key
    },
  }
}

/** Lists its first payment twice. */
function repeating(): Store {
  const store = createMemoryVersionStore()
  return {
    ...store,
    async *list(address) {
      let isFirst = true
      for await (const key of store.list(address)) {
        if (isFirst) yield key
        isFirst = false
        yield key
      }
    },
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test.each([
  ['none', async () => undefined],
  ['1 ms', () => wait(1)],
  ['20 ms', () => wait(20)],
])('a store that lists a payment whose effect runs is found out, with a round trip of %s', async (_, roundTrip) => {
  expect(await failedBy(() => hasty(roundTrip))).toContain('a listing has no payment whose effect failed or still runs')
})

test('a store that lists a payment twice is found out, unless its fixture says that it may', async () => {
  expect(await failedBy(repeating)).toContain(
    'a listing of many payments on two chains is whole, also while others are stored, and these again',
  )
  expect(await failedBy(repeating, true)).toEqual([])
})
