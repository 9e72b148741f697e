/** Our dispatcher and the console in one process, as the reference server has them. @module */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { type Console, type ConsoleBindings, createConsole } from '@payment-integration/console'
import { createService, parseMasterKey } from '@payment-integration/core'
import { createUndiciSender } from '@payment-integration/server'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { integrations } from '../notifications/jobs.js'
import { type Places, storeJobs } from '../notifications/store-jobs.js'
import { answer, timed } from '../notifications/worker.js'
import { masterKey } from '../read-api/dataset.js'
import { timeReads } from './timed-store.js'

/** Payments per transaction while a backlog is prepared. */
const batch = 500

const [databaseUrl = '', receiverUrl = ''] = process.argv.slice(2)
const store = databaseUrl.startsWith('sqlite:')
  ? createSqliteStore({ path: databaseUrl.slice('sqlite:'.length) })
  : createPostgresStore({ connectionString: databaseUrl })
const sender = createUndiciSender({ allowLoopbackHttp: true })
let delivered = 0
let onDelivered: () => void = () => {}
const service = createService({
  store,
  sender,
  masterKey: parseMasterKey(masterKey),
  allowLoopbackHttp: true,
  onEvent(event) {
    if (event.type !== 'delivery.attempted' || event.outcome !== 'delivered') return
    delivered += 1
    onDelivered()
  },
})
// The reads of pages alone are counted.
const watched = timeReads(store)
const open = (): Console =>
  createConsole({ service: { ...service, store: watched.store, indexers: [] }, onError: console.error })
let pages = open()
const server = serve({
  fetch: (request: Request, bindings: ConsoleBindings) => pages.fetch(request, bindings),
  port: 0,
  hostname: '127.0.0.1',
})

const served = {
  async open() {
    await store.migrate()
    await store.console.prepare()
    for (const [n, address] of integrations.entries()) {
      const origin = receiverUrl.replace('127.0.0.1', `shop-${n}.localhost`)
      await service.integrations.create({ address, notificationUrl: `${origin}/hooks/${address}` })
    }
    return (server.address() as AddressInfo).port
  },
  async prepare({ from, count }: Places) {
    for (let done = 0; done < count; done += batch)
      await storeJobs(store, { from: from + done, count: Math.min(batch, count - done) })
  },
  /** Delivers the prepared backlog. */
  run: ({ count }: Places) =>
    timed(async () => {
      const until = delivered + count
      const stop = new AbortController()
      const all = new Promise<void>((resolve) => {
        onDelivered = () => delivered >= until && resolve()
      })
      const running = service.dispatcher.run(stop.signal)
      await all
      stop.abort()
      await running
    }),
  /** Ends the streams of all pages. A new console reads nothing until a page opens. */
  closePages() {
    pages.close()
    pages = open()
  },
  /** Reads since the last call. */
  takeReads: () => watched.take().reads,
}
export type Served = typeof served
answer(served, async () => {
  pages.close()
  server.close()
  await sender.close()
  await store.close()
})
