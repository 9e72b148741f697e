/** The payments of the tests, and an effect that waits. @module */
import { expect } from 'vitest'
import { deferred } from '../src/conformance/fixture.js'
import type { VersionStore } from '../src/exports/index.js'

export const payment = {
  integrationAddress: `0x${'a1'.repeat(20)}`,
  chainId: '1',
  txHash: `0x${'b2'.repeat(32)}`,
  version: 1,
}
export const other = { ...payment, txHash: `0x${'c3'.repeat(32)}` }
export const nothing = () => undefined
export const unwanted = () => expect.unreachable('an effect ran that must not run')

/** What a caller gets who waited too long. */
export const busy = { code: 'ERR_VERSION_STORE_BUSY', status: 503 }

/** All items, in their order. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of items) collected.push(item)
  return collected
}

/** Starts an effect of `payment` that lasts until it is released. */
export async function hold<Tx>(store: Pick<VersionStore<Tx>, 'advance'>) {
  const [started, gate] = [deferred(), deferred()]
  const delivery = store.advance(payment, () => {
    started.resolve()
    return gate.promise
  })
  await started.promise
  return { delivery, release: gate.resolve }
}

/** A `sleep` that lasts until the test ends it, and its calls. */
export function createSleep() {
  const waits: { readonly ms: number; readonly signal: AbortSignal | undefined; readonly end: () => void }[] = []
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((end) => {
      waits.push({ ms, signal, end })
    })
  return { waits, sleep }
}
