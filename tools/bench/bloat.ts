/** Measures queues while another session keeps a snapshot open, which keeps dead rows. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { ClaimedDelivery, SettledAttempt } from '@payment-integration/core/internal'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'
import { createServiceOn } from './databases.js'
import { openPeer, type PeerName, peersFolder, peersMissing } from './notifications/peers.js'
import { createCounter, jobsAt } from './notifications/publish.js'
import { createIntegrations, inFlight, type PaymentRange, storeWithoutSnapshots } from './payments.js'
import { median, round, type Table } from './report.js'

export interface BloatEffort {
  readonly deliveriesPerSlice: number
  /** Slices before the snapshot opens, and as many after it ends. */
  readonly slicesAround: number
  /** Slices while the snapshot is open. */
  readonly slicesDuring: number
  /** A queue stops when one of its slices takes longer than this: its rate has collapsed. */
  readonly maxSeconds: number
}

type Phase = 'before' | 'open' | 'after'

interface Sample {
  readonly phase: Phase
  readonly perSecond: number
  readonly claimUs: number | null
  /** Blocks of the queue's tables and indexes that the server read for one delivery. */
  readonly blocks: number
}

interface Series {
  readonly queue: MeasuredQueue
  readonly samples: Sample[]
  /** Measured just before the snapshot ends. */
  size: Awaited<ReturnType<typeof measureSize>> | null
  hasCollapsed: boolean
}

/** Runs the queues in turns, slice by slice, on one database. */
export async function benchBloat(effort: BloatEffort): Promise<Table[]> {
  const postgres = await startPostgres()
  const { connectionString } = postgres
  const allSeries: Series[] = []
  const add = (queue: MeasuredQueue) => allSeries.push({ queue, samples: [], size: null, hasCollapsed: false })
  const [statistics, snapshotHolder] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  try {
    await Promise.all([statistics.connect(), snapshotHolder.connect()])
    add(await openOurs(connectionString))
    if (peersMissing === null) {
      add(await openLibrary('pg-boss, batches of 500', connectionString))
      add(await openLibrary('graphile-worker', connectionString))
    }
    let from = 0
    const takeTurns = async (phase: Phase, count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        for (const series of allSeries)
          await runSlice(statistics, series, phase, { from, count: effort.deliveriesPerSlice }, effort.maxSeconds)
        from += effort.deliveriesPerSlice
      }
    }
    // Warms up caches and plans.
    await takeTurns('before', 1)
    for (const { samples } of allSeries) samples.length = 0
    await takeTurns('before', effort.slicesAround)
    await snapshotHolder.query('begin isolation level repeatable read')
    await snapshotHolder.query('select 1')
    await takeTurns('open', effort.slicesDuring)
    await statistics.query('select pg_stat_force_next_flush()')
    for (const series of allSeries) series.size = await measureSize(statistics, series.queue.tables)
    await snapshotHolder.query('commit')
    await statistics.query('vacuum')
    await takeTurns('after', effort.slicesAround)
    return [buildTable(allSeries, effort)]
  } finally {
    for (const { queue } of allSeries) await queue.close()
    await Promise.all([statistics.end(), snapshotHolder.end()])
    await postgres.remove()
  }
}

async function runSlice(client: pg.Client, series: Series, phase: Phase, slice: PaymentRange, maxSeconds: number) {
  if (series.hasCollapsed && phase === 'open') return
  const before = await countBlocks(client, series.queue.tables)
  const { seconds, claimMs } = await series.queue.run(slice)
  // A backend of an idle connection reports its statistics after a second.
  await wait(1_100)
  const blocks = ((await countBlocks(client, series.queue.tables)) - before) / slice.count
  const claimUs = claimMs === null ? null : (claimMs / slice.count) * 1_000
  series.samples.push({ phase, perSecond: slice.count / seconds, claimUs, blocks })
  series.hasCollapsed ||= phase === 'open' && seconds > maxSeconds
}

/** The given tables with their partitions. */
const withPartitions = `with recursive t (oid) as (
  select unnest($1::regclass[])::oid union all select i.inhrelid from pg_inherits i join t on t.oid = i.inhparent)`

async function countBlocks(client: pg.Client, tables: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ blocks: string }>(
    `${withPartitions} select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) as blocks
     from pg_statio_user_tables s join t on t.oid = s.relid`,
    [tables],
  )
  return Number(rows[0]?.blocks)
}

async function measureSize(client: pg.Client, tables: readonly string[]) {
  const { rows } = await client.query<{ dead: string; heap: string; indexes: string }>(
    `${withPartitions} select sum(pg_stat_get_dead_tuples(oid)) as dead, sum(pg_relation_size(oid)) as heap,
       sum(pg_indexes_size(oid)) as indexes from t`,
    [tables],
  )
  const [row] = rows
  return { dead: Number(row?.dead), tableBytes: Number(row?.heap), indexBytes: Number(row?.indexes) }
}

function buildTable(allSeries: readonly Series[], effort: BloatEffort): Table {
  const { deliveriesPerSlice, slicesAround, slicesDuring, maxSeconds } = effort
  const getRate = (samples: readonly Sample[]) => median(samples.map(({ perSecond }) => perSecond))
  const getBlocks = (samples: readonly Sample[]) => round(median(samples.map(({ blocks }) => blocks)))
  const getClaimUs = (samples: readonly Sample[]) => round(median(samples.flatMap(({ claimUs }) => claimUs ?? [])))
  const rows = allSeries.map(({ queue, samples, size, hasCollapsed }) => {
    const select = (phase: Phase) => samples.filter((sample) => sample.phase === phase)
    const [before, during, after] = [select('before'), select('open'), select('after')]
    const last = during.slice(-slicesAround)
    return [
      hasCollapsed ? `${queue.name}, stopped after ${during.length} slices` : queue.name,
      ...[getRate(before), getRate(last)].map((value) => round(value)),
      round(getRate(last) / getRate(before), 2),
      round(getRate(after)),
      ...[before, last, after].map(getClaimUs),
      ...[before, last, after].map(getBlocks),
      size?.dead ?? null,
      ...[size?.tableBytes, size?.indexBytes].map((bytes) => round((bytes ?? Number.NaN) / 2 ** 20, 1)),
    ]
  })
  const rates = ['before, per second', 'last', 'last of before', 'after']
  const sizes = ['dead rows', 'table MiB', 'indexes MiB']
  const perPhase = (what: string) => ['before', 'last', 'after'].map((phase) => `${what} ${phase}`)
  return {
    title: 'Deliveries with an open snapshot',
    columns: ['', ...rates, ...perPhase('claim µs'), ...perPhase('blocks'), ...sizes],
    rows,
    notes: [
      `${slicesDuring} slices of ${deliveriesPerSlice.toLocaleString('en')} deliveries. Medians of ${slicesAround} slices. A way stops once a slice takes over ${maxSeconds} s.`,
      ...(peersMissing === null ? [] : [peersMissing]),
    ],
  }
}

/** Deliveries that are added in one transaction: the payments of a block. */
const blockSize = 60

interface SliceTime {
  readonly seconds: number
  /** Milliseconds of the claims; null where a library hides them. */
  readonly claimMs: number | null
}

interface MeasuredQueue {
  readonly name: string
  /** The tables that hold its deliveries, with their schema. */
  readonly tables: readonly string[]
  /** Adds a block, finishes it, and adds the next one, so that the queue stays short. */
  run(slice: PaymentRange): Promise<SliceTime>
  close(): Promise<unknown>
}

/** Ours: snapshots of stored payments are published, claimed and settled as delivered. */
async function openOurs(connectionString: string): Promise<MeasuredQueue> {
  const store = createPostgresStore({ connectionString })
  await store.migrate()
  await createIntegrations(createServiceOn(store), (address, n) => `http://shop-${n}.localhost:9/${address}`)
  return {
    name: 'ours',
    tables: ['payment_integration.outbox'],
    async run(slice) {
      const snapshots = await storeWithoutSnapshots(store, slice)
      const startedAt = performance.now()
      let claimMs = 0
      for (let stored = 0; stored < snapshots.length; stored += blockSize) {
        const published = snapshots.slice(stored, stored + blockSize)
        await store.transaction((tx) => tx.insertSnapshots(published))
        for (let remaining = published.length; remaining > 0; ) {
          const claimStartedAt = performance.now()
          const claimed = await store.deliveries.claim({ limit: inFlight, leaseMs: 15_000, maxRetries: inFlight / 2 })
          claimMs += performance.now() - claimStartedAt
          if (claimed.length === 0) throw new Error(`A claim took nothing, with ${remaining} deliveries due.`)
          await store.deliveries.settle(claimed.map(toDelivered), () => ({ failures: 0, blocks: 0, blockMs: null }))
          remaining -= claimed.length
        }
        // The dispatcher asks this after each claim that took every due delivery.
        await store.deliveries.msUntilDue()
      }
      return { seconds: (performance.now() - startedAt) / 1_000, claimMs }
    },
    close: () => store.close(),
  }
}

function toDelivered(claim: ClaimedDelivery): SettledAttempt {
  const attempt = { startedAt: Date.now(), latencyMs: 12, status: 204, reason: null, excerpt: null, replay: false }
  return { claim, attempt, verdict: { kind: 'delivered' } }
}

/** A library with a handler that does nothing. */
async function openLibrary(name: PeerName, connectionString: string): Promise<MeasuredQueue> {
  const handled = createCounter()
  const queue = await openPeer(name, peersFolder, connectionString, inFlight, async () => handled.count())
  return {
    name,
    tables: [name === 'graphile-worker' ? 'graphile_worker._private_jobs' : 'pgboss.job'],
    async run(slice) {
      const jobs = jobsAt(slice)
      await queue.start()
      const startedAt = performance.now()
      for (let queued = 0; queued < jobs.length; queued += blockSize) {
        const added = jobs.slice(queued, queued + blockSize)
        const allHandled = handled.waitFor(added.length)
        await queue.add(added)
        await allHandled
      }
      const seconds = (performance.now() - startedAt) / 1_000
      await queue.stop()
      return { seconds, claimMs: null }
    },
    close: () => queue.close(),
  }
}
