/** Measures queues while another session keeps a snapshot open: dead rows stay until it ends. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { ClaimedDelivery, SettledAttempt } from '@payment-integration/core/internal'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'
import { serviceOn } from './databases.js'
import { openPeer, type PeerName, peersFolder, peersMissing } from './notifications/peers.js'
import { createCounter, jobsAt } from './notifications/publish.js'
import { createIntegrations, inFlight, type Places, storeWithoutSnapshots } from './payments.js'
import { median, round, type Table } from './report.js'

export interface BloatEffort {
  /** Deliveries of a slice. */
  readonly slice: number
  /** Slices before the snapshot opens, and after it ends. */
  readonly around: number
  /** Slices with the open snapshot. */
  readonly open: number
  /** A way whose slice takes longer than this stops: its rate has collapsed. */
  readonly maxSeconds: number
}

type Phase = 'before' | 'open' | 'after'

interface Taken {
  readonly phase: Phase
  readonly perSecond: number
  readonly claimUs: number | null
  /** Blocks of the queue's tables and indexes that the server read for one delivery. */
  readonly blocks: number
}

interface Course {
  readonly way: BloatWay
  readonly taken: Taken[]
  /** At the end of the open snapshot. */
  size: Awaited<ReturnType<typeof measureSize>> | null
  hasCollapsed: boolean
}

/** Runs the ways in turns, slice by slice, on one database. */
export async function benchBloat(effort: BloatEffort): Promise<Table[]> {
  const postgres = await startPostgres()
  const { connectionString } = postgres
  const courses: Course[] = []
  const add = (way: BloatWay) => courses.push({ way, taken: [], size: null, hasCollapsed: false })
  const [report, other] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  try {
    await Promise.all([report.connect(), other.connect()])
    add(await openOurs(connectionString))
    if (peersMissing === null) {
      add(await openLibrary('pg-boss, batches of 500', connectionString))
      add(await openLibrary('graphile-worker', connectionString))
    }
    let from = 0
    const turns = async (phase: Phase, count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        for (const course of courses)
          await runSlice(report, course, phase, { from, count: effort.slice }, effort.maxSeconds)
        from += effort.slice
      }
    }
    // Warms up caches and plans.
    await turns('before', 1)
    for (const { taken } of courses) taken.length = 0
    await turns('before', effort.around)
    await other.query('begin isolation level repeatable read')
    await other.query('select 1')
    await turns('open', effort.open)
    await report.query('select pg_stat_force_next_flush()')
    for (const course of courses) course.size = await measureSize(report, course.way.tables)
    await other.query('commit')
    await report.query('vacuum')
    await turns('after', effort.around)
    return [buildTable(courses, effort)]
  } finally {
    for (const { way } of courses) await way.close()
    await Promise.all([report.end(), other.end()])
    await postgres.remove()
  }
}

async function runSlice(client: pg.Client, course: Course, phase: Phase, slice: Places, maxSeconds: number) {
  if (course.hasCollapsed && phase === 'open') return
  const before = await getBlocks(client, course.way.tables)
  const { seconds, claimMs } = await course.way.run(slice)
  // A backend of an idle connection reports its statistics after a second.
  await wait(1_100)
  const blocks = ((await getBlocks(client, course.way.tables)) - before) / slice.count
  const claimUs = claimMs === null ? null : (claimMs / slice.count) * 1_000
  course.taken.push({ phase, perSecond: slice.count / seconds, claimUs, blocks })
  course.hasCollapsed ||= phase === 'open' && seconds > maxSeconds
}

/** The given tables with their partitions. */
const withPartitions = `with recursive t (oid) as (
  select unnest($1::regclass[])::oid union all select i.inhrelid from pg_inherits i join t on t.oid = i.inhparent)`

async function getBlocks(client: pg.Client, tables: readonly string[]): Promise<number> {
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

function buildTable(courses: readonly Course[], { slice, around, open, maxSeconds }: BloatEffort): Table {
  const rate = (taken: readonly Taken[]) => median(taken.map(({ perSecond }) => perSecond))
  const blocks = (taken: readonly Taken[]) => round(median(taken.map((each) => each.blocks)))
  const claim = (taken: readonly Taken[]) => round(median(taken.flatMap(({ claimUs }) => claimUs ?? [])))
  const rows = courses.map(({ way, taken, size, hasCollapsed }) => {
    const of = (phase: Phase) => taken.filter((each) => each.phase === phase)
    const [before, opened, after] = [of('before'), of('open'), of('after')]
    const last = opened.slice(-around)
    return [
      hasCollapsed ? `${way.name}, stopped after ${opened.length} slices` : way.name,
      ...[rate(before), rate(last)].map((value) => round(value)),
      round(rate(last) / rate(before), 2),
      round(rate(after)),
      ...[before, last, after].map(claim),
      ...[before, last, after].map(blocks),
      size?.dead ?? null,
      ...[size?.tableBytes, size?.indexBytes].map((bytes) => round((bytes ?? Number.NaN) / 2 ** 20, 1)),
    ]
  })
  const rates = ['before, per second', 'last', 'last of before', 'after']
  const sizes = ['dead rows', 'table MiB', 'indexes MiB']
  const thrice = (what: string) => ['before', 'last', 'after'].map((phase) => `${what} ${phase}`)
  return {
    title: 'Deliveries with an open snapshot',
    columns: ['', ...rates, ...thrice('claim µs'), ...thrice('blocks'), ...sizes],
    rows,
    notes: [
      `${open} slices of ${slice.toLocaleString('en')} deliveries. Medians of ${around} slices. A way stops once a slice takes over ${maxSeconds} s.`,
      ...(peersMissing === null ? [] : [peersMissing]),
    ],
  }
}

/** Deliveries that are added in one transaction: the payments of a block. */
const block = 60

interface SliceTime {
  readonly seconds: number
  /** Milliseconds of the claims; null where a library hides them. */
  readonly claimMs: number | null
}

interface BloatWay {
  readonly name: string
  /** The tables that hold its deliveries, with their schema. */
  readonly tables: readonly string[]
  /** Adds a block, finishes it, and adds the next one, so that the queue stays short. */
  run(slice: Places): Promise<SliceTime>
  close(): Promise<unknown>
}

/** Ours: snapshots of stored payments are published, claimed and settled as delivered. */
async function openOurs(connectionString: string): Promise<BloatWay> {
  const store = createPostgresStore({ connectionString })
  await store.migrate()
  await createIntegrations(serviceOn(store), (address, n) => `http://shop-${n}.localhost:9/${address}`)
  return {
    name: 'ours',
    tables: ['payment_integration.outbox'],
    async run(slice) {
      const snapshots = await storeWithoutSnapshots(store, slice)
      const startedAt = performance.now()
      let claimMs = 0
      for (let stored = 0; stored < snapshots.length; stored += block) {
        const published = snapshots.slice(stored, stored + block)
        await store.transaction((tx) => tx.insertSnapshots(published))
        for (let remaining = published.length; remaining > 0; ) {
          const claimStartedAt = performance.now()
          const claimed = await store.deliveries.claim({ limit: inFlight, leaseMs: 15_000, maxRetries: inFlight / 2 })
          claimMs += performance.now() - claimStartedAt
          if (claimed.length === 0) throw new Error(`A claim took nothing, with ${remaining} deliveries due.`)
          await store.deliveries.settle(claimed.map(delivered), () => ({ failures: 0, blocks: 0, blockMs: null }))
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

function delivered(claim: ClaimedDelivery): SettledAttempt {
  const attempt = { startedAt: Date.now(), latencyMs: 12, status: 204, reason: null, excerpt: null, replay: false }
  return { claim, attempt, verdict: { kind: 'delivered' } }
}

/** A library with a handler that does nothing. */
async function openLibrary(name: PeerName, connectionString: string): Promise<BloatWay> {
  const handled = createCounter()
  const queue = await openPeer(name, peersFolder, connectionString, inFlight, async () => handled.count())
  return {
    name,
    tables: [name === 'graphile-worker' ? 'graphile_worker._private_jobs' : 'pgboss.job'],
    async run(slice) {
      const jobs = jobsAt(slice)
      await queue.start()
      const startedAt = performance.now()
      for (let queued = 0; queued < jobs.length; queued += block) {
        const added = jobs.slice(queued, queued + block)
        const all = handled.waitFor(added.length)
        await queue.add(added)
        await all
      }
      const seconds = (performance.now() - startedAt) / 1_000
      await queue.stop()
      return { seconds, claimMs: null }
    },
    close: () => queue.close(),
  }
}
