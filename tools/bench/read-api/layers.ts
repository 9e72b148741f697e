/** Measures the CPU of authentication, validation and cursor, without query, JSON and HTTP. @module */
import type { Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { integrationAddress, serviceOn, timestampAt, txHashAt } from './dataset.js'

/** Microseconds of CPU per request. */
export interface LayerCpu {
  /** With credentials that were just used. */
  readonly busyCallerUs: number
  /** With a look-up and a keyed hash on each request. */
  readonly rareCallerUs: number
}

/** Measures on a store, with reads of payments replaced by an empty page that has a next one. */
export async function layerCpu(store: Store, basic: string, requests: number): Promise<LayerCpu> {
  let now = 0
  const busyCallerUs = await measure(store, basic, requests, () => now)
  const rareCallerUs = await measure(store, basic, requests, () => (now += 1_000))
  return { busyCallerUs, rareCallerUs }
}

async function measure(store: Store, basic: string, requests: number, clock: () => number): Promise<number> {
  const next = { blockTimestamp: timestampAt(50), chainId: 10, txHash: txHashAt(50), asOf: 0 }
  const list = async () => ({ payments: [], next })
  const service = serviceOn({ ...store, payments: { ...store.payments, list } }, clock)
  const { nextCursor } = await service.payments.list({ integrationAddress }, {})
  const cursor = nextCursor ?? ''
  await run(service, basic, cursor, Math.ceil(requests / 5))
  const before = process.cpuUsage()
  await run(service, basic, cursor, requests)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

async function run(service: Service, basic: string, cursor: string, requests: number): Promise<void> {
  for (let n = 0; n < requests; n += 1) {
    const caller = await service.authenticate(basic)
    if (caller === null) throw new Error('The credentials of the bench were refused.')
    await service.payments.list(caller, { limit: '50', cursor })
  }
}
