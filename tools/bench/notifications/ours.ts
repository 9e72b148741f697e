/** Our outbox and dispatcher as a separate process, with default options or the concurrency of its argument. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createService, parseMasterKey, type Service } from '@payment-integration/core'
import type { NewSnapshot, Store } from '@payment-integration/core/ports'
import { createUndiciSender } from '@payment-integration/server'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { masterKey } from '../read-api/dataset.js'
import { integrations } from './jobs.js'
import { type Pace, publishAt } from './publish.js'
import { makePayments, type Places, storeJobs, storePayments, storeWithoutSnapshots } from './store-jobs.js'
import { answer, timedWithProfile } from './worker.js'

/** Payments per transaction while a backlog is prepared. */
const batch = 500
/** Payments per transaction during deliveries: 10 ms of thousands per second. */
const block = 60
/** Lead of published payments over deliveries: enough for the dispatcher's largest claims. */
const mostAhead = 1_000

const [databaseUrl = '', receiverUrl = '', posts] = process.argv.slice(2)
// Every integration may use a fair share of the posts.
const delivery =
  posts === undefined ? undefined : { concurrency: Number(posts), perEndpoint: Number(posts) / integrations.length }
const store: Store = databaseUrl.startsWith('sqlite:')
  ? createSqliteStore({ path: databaseUrl.slice('sqlite:'.length) })
  : createPostgresStore({ connectionString: databaseUrl })
const sender = createUndiciSender({
  allowLoopbackHttp: true,
  ...(delivery === undefined ? {} : { connectionsPerOrigin: delivery.perEndpoint }),
})
let delivered = 0
let onDelivered: () => void = () => {}
let halt = new AbortController()
let running: Promise<void> = Promise.resolve()
const service: Service = createService({
  store,
  sender,
  delivery,
  masterKey: parseMasterKey(masterKey),
  allowLoopbackHttp: true,
  onEvent(event) {
    if (event.type !== 'delivery.attempted' || event.outcome !== 'delivered') return
    delivered += 1
    onDelivered()
  },
})

/** Runs the dispatcher until so many deliveries are settled. */
async function deliver(count: number, beside: () => Promise<unknown> = async () => {}): Promise<void> {
  const until = delivered + count
  const stop = new AbortController()
  const all = new Promise<void>((resolve) => {
    onDelivered = () => delivered >= until && resolve()
  })
  const running = service.dispatcher.run(stop.signal)
  await Promise.all([all, beside()])
  stop.abort()
  await running
}

const ours = {
  async open() {
    await store.migrate()
    // Counts as ten servers for the dispatcher, which limits POSTs per host.
    for (const [n, address] of integrations.entries()) {
      const origin = receiverUrl.replace('127.0.0.1', `shop-${n}.localhost`)
      await service.integrations.create({ address, notificationUrl: `${origin}/hooks/${address}` })
    }
  },
  async prepare({ from, count }: Places) {
    for (let done = 0; done < count; done += batch)
      await storeJobs(store, { from: from + done, count: Math.min(batch, count - done) })
  },
  /** Delivers the prepared backlog; `BENCH_PROFILE=1` writes a profile. */
  run: ({ count }: Places) => timedWithProfile('ours', () => deliver(count)),
  /** Commits payments at a pace while the dispatcher runs. */
  async publish(pace: Pace) {
    // Built beforehand: the dispatcher shares this process with the publisher, but not with building payments.
    const made = makePayments({ from: pace.from, count: Math.round(pace.perSecond * pace.seconds) })
    let committed: Awaited<ReturnType<typeof publishAt>> = []
    await deliver(Math.round(pace.perSecond * pace.seconds), async () => {
      committed = await publishAt(pace, async ({ from, count }) => {
        await storePayments(store, made.slice(from - pace.from, from - pace.from + count))
        service.dispatcher.wake()
      })
    })
    return committed
  },
  /** The same with stored payments: it publishes only a snapshot and its outbox row, like a job of a queue. */
  async publishStored(pace: Pace) {
    const count = Math.round(pace.perSecond * pace.seconds)
    const snapshots: NewSnapshot[] = []
    for (let done = 0; done < count; done += batch) {
      const made = makePayments({ from: pace.from + done, count: Math.min(batch, count - done) })
      snapshots.push(...(await storeWithoutSnapshots(store, made)))
    }
    let committed: Awaited<ReturnType<typeof publishAt>> = []
    await deliver(count, async () => {
      committed = await publishAt(pace, async (some) => {
        const begun = some.from - pace.from
        await store.transaction((tx) => tx.insertSnapshots(snapshots.slice(begun, begun + some.count)))
        service.dispatcher.wake()
      })
    })
    return committed
  },
  /** Publishes in blocks and delivers concurrently, as fast as possible. */
  async publishAll({ from, count }: Places) {
    const made = makePayments({ from, count })
    const begun = { delivered, at: performance.now() }
    await deliver(count, async () => {
      for (let done = 0; done < count; done += block) {
        await storePayments(store, made.slice(done, done + block))
        service.dispatcher.wake()
        while (begun.delivered + done - delivered > mostAhead) await nextTurn()
      }
    })
    return { seconds: (performance.now() - begun.at) / 1_000 }
  },
  /** Starts the dispatcher, which runs until {@link halt}. Other processes may claim from the same outbox. */
  start() {
    halt = new AbortController()
    running = service.dispatcher.run(halt.signal)
  },
  async halt() {
    halt.abort()
    await running
  },
  heapBytes() {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  },
}
export type Ours = typeof ours
answer(ours, async () => {
  await sender.close()
  await store.close()
})
