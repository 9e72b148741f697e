/** The queues that are measured while a snapshot stays open. @module */
import { createService, parseMasterKey } from '@payment-integration/core'
import type { ClaimedDelivery, NewSnapshot, SettledAttempt } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { inFlight, integrations, jobAt } from '../notifications/jobs.js'
import { openPeer, type PeerName, peersFolder } from '../notifications/peers.js'
import { makePayments, storeWithoutSnapshots } from '../notifications/store-jobs.js'
import { masterKey } from '../read-api/dataset.js'

/** Deliveries that are added in one transaction: the payments of a block. */
const block = 60

/** Deliveries to add and finish. */
export interface Slice {
  readonly from: number
  readonly count: number
}

/** The time of a slice. */
export interface SliceTime {
  readonly seconds: number
  /** Milliseconds of the claims; null where a library hides them. */
  readonly claimMs: number | null
}

/** A queue on PostgreSQL. */
export interface BloatWay {
  readonly name: string
  /** The tables that hold its deliveries, with their schema. */
  readonly tables: readonly string[]
  /** Adds a block, finishes it, and adds the next one, so that the queue stays short. */
  run(slice: Slice): Promise<SliceTime>
  close(): Promise<unknown>
}

/** Ours: snapshots of stored payments are published, claimed and settled as delivered. */
export async function openOurs(connectionString: string): Promise<BloatWay> {
  const store = createPostgresStore({ connectionString })
  await store.migrate()
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  const service = createService({ store, sender, masterKey: parseMasterKey(masterKey), allowLoopbackHttp: true })
  for (const [n, address] of integrations.entries())
    await service.integrations.create({ address, notificationUrl: `http://shop-${n}.localhost:9/${address}` })
  return {
    name: 'ours',
    tables: ['payment_integration.outbox'],
    async run({ from, count }) {
      const snapshots: NewSnapshot[] = []
      for (let done = 0; done < count; done += 500)
        snapshots.push(
          ...(await storeWithoutSnapshots(
            store,
            makePayments({ from: from + done, count: Math.min(500, count - done) }),
          )),
        )
      const begun = performance.now()
      let claimMs = 0
      for (let done = 0; done < count; done += block) {
        const published = snapshots.slice(done, done + block)
        await store.transaction((tx) => tx.insertSnapshots(published))
        for (let left = published.length; left > 0; ) {
          const claimBegun = performance.now()
          const claimed = await store.deliveries.claim({ limit: inFlight, leaseMs: 15_000, maxRetries: inFlight / 2 })
          claimMs += performance.now() - claimBegun
          if (claimed.length === 0) throw new Error(`A claim took nothing, with ${left} deliveries due.`)
          await store.deliveries.settle(claimed.map(delivered), () => ({ failures: 0, blocks: 0, blockMs: null }))
          left -= claimed.length
        }
        // The dispatcher asks after each claim that took all.
        await store.deliveries.msUntilDue()
      }
      return { seconds: (performance.now() - begun) / 1_000, claimMs }
    },
    close: () => store.close(),
  }
}

function delivered(claim: ClaimedDelivery): SettledAttempt {
  const attempt = { startedAt: Date.now(), latencyMs: 12, status: 204, reason: null, excerpt: null, replay: false }
  return { claim, attempt, verdict: { kind: 'delivered' } }
}

const peerTables: Readonly<Record<PeerName, readonly string[]>> = {
  'pg-boss, batches of 500': ['pgboss.job'],
  'pg-boss, batches of 128': ['pgboss.job'],
  'graphile-worker': ['graphile_worker._private_jobs'],
}

/** A library with a handler that does nothing. */
export async function openLibrary(name: PeerName, connectionString: string): Promise<BloatWay> {
  let handled = 0
  let onHandled: () => void = () => {}
  const queue = await openPeer(name, peersFolder, connectionString, inFlight, async () => {
    handled += 1
    onHandled()
  })
  return {
    name,
    tables: peerTables[name],
    async run({ from, count }) {
      const jobs = Array.from({ length: count }, (_, n) => jobAt(from + n))
      await queue.start()
      const begun = performance.now()
      for (let done = 0; done < count; done += block) {
        const added = jobs.slice(done, done + block)
        const until = handled + added.length
        const all = new Promise<void>((resolve) => {
          onHandled = () => handled >= until && resolve()
        })
        await queue.add(added)
        await all
      }
      const seconds = (performance.now() - begun) / 1_000
      await queue.stop()
      return { seconds, claimMs: null }
    },
    close: () => queue.close(),
  }
}
