/** Writes and reads one operation after the other, and records how long each takes. @module */
import type { Store } from '@payment-integration/core/ports'
import { integrationAt, integrationCount } from '../console/dataset.js'
import { serviceOn } from '../updates/open.js'
import { storePayments, updateAt } from '../updates/payments.js'

/** An operation, in milliseconds of this process's clock. */
export interface Operation {
  readonly kind: 'write' | 'read'
  readonly from: number
  readonly to: number
}

/** Operations that run until they are stopped. */
export interface Load {
  readonly operations: readonly Operation[]
  /** @throws The error of an operation that failed. */
  stop(): Promise<void>
}

/** Starts one session that writes and one that reads. */
export function startLoad(store: Store): Load {
  const operations: Operation[] = []
  let stopping = false
  const timed = async (kind: Operation['kind'], work: () => Promise<unknown>) => {
    const from = performance.now()
    await work()
    operations.push({ kind, from, to: performance.now() })
  }
  const write = async () => {
    const service = serviceOn(store)
    // Each run has other payments: a kept database has those of the last one.
    for (let n = Math.floor(Date.now() / 100) % 1_000_000_000; !stopping; n += 1) {
      await timed('write', () => storePayments(store, n, 1))
      for (const round of [0, 1]) await timed('write', () => service.applyUpdate(updateAt(n, round)))
    }
  }
  const read = async () => {
    for (let n = 0; !stopping; n += 1) {
      const integrationAddress = integrationAt(n % integrationCount)
      await timed('read', () => store.payments.list({ integrationAddress, limit: 50 }))
      await timed('read', () => store.deliveries.find(String(1 + ((n * 7_919) % 10_000))))
    }
  }
  const running = [write(), read()]
  for (const each of running) each.catch(() => undefined)
  return {
    operations,
    async stop() {
      stopping = true
      await Promise.all(running)
    },
  }
}
