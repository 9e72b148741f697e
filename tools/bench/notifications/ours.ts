/** Our outbox and dispatcher as a separate process, with default options. @module */
import { createUndiciSender } from '@payment-integration/server'
import { createServiceOn, openStoreAt } from '../databases.js'
import { batch, createIntegrations, type PaymentRange, storePayments, storeWithoutSnapshots } from '../payments.js'
import { answer, measureTime } from '../processes.js'
import { type Committed, createCounter, type Pace, publishAt } from './publish.js'

const [databaseUrl = '', receiverUrl = ''] = process.argv.slice(2)
const store = openStoreAt(databaseUrl)
const sender = createUndiciSender({ allowLoopbackHttp: true })
const delivered = createCounter()
const service = createServiceOn(store, {
  sender,
  onEvent(event) {
    if (event.type === 'delivery.attempted' && event.outcome === 'delivered') delivered.count()
  },
})

/** Runs the dispatcher until `count` more deliveries are delivered, and `beside` at the same time. */
async function deliver(count: number, beside: () => Promise<unknown> = async () => {}): Promise<void> {
  const stop = new AbortController()
  const allDelivered = delivered.waitFor(count)
  const running = service.dispatcher.run(stop.signal)
  await Promise.all([allDelivered, beside()])
  stop.abort()
  await running
}

const ours = {
  async open() {
    await store.migrate()
    // Ten host names, because the dispatcher limits POSTs per host.
    await createIntegrations(
      service,
      (address, n) => `${receiverUrl.replace('127.0.0.1', `shop-${n}.localhost`)}/hooks/${address}`,
    )
  },
  async prepare({ from, count }: PaymentRange) {
    for (let done = 0; done < count; done += batch)
      await storePayments(store, { from: from + done, count: Math.min(batch, count - done) })
  },
  /** Delivers the prepared backlog. */
  run: ({ count }: PaymentRange) => measureTime(() => deliver(count)),
  /** Publishes snapshots of stored payments with their outbox rows, as a queue adds jobs, while the dispatcher runs. */
  async publish(pace: Pace) {
    const snapshots = await storeWithoutSnapshots(store, pace)
    let committed: Committed[] = []
    await deliver(pace.count, async () => {
      committed = await publishAt(pace, async ({ from, count }) => {
        const part = snapshots.slice(from - pace.from, from - pace.from + count)
        await store.transaction((tx) => tx.insertSnapshots(part))
        service.dispatcher.wake()
      })
    })
    return committed
  },
}
export type Ours = typeof ours
answer(ours, async () => {
  await sender.close()
  await store.close()
})
