/** Measures queues while another session keeps a snapshot open: dead rows stay until it ends. @module */
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { median } from '../measure.js'
import { peersMissing } from '../notifications/peers.js'
import { type BloatWay, openLibrary, openOurs, type Slice } from './ways.js'

/** How much to measure. */
export interface BloatEffort {
  /** Deliveries of a slice. */
  readonly slice: number
  /** Slices before the snapshot opens, and after it ends. */
  readonly around: number
  /** Slices with the open snapshot. */
  readonly open: number
  /** A way whose slice takes longer than this stops: its rate has collapsed. */
  readonly mostSeconds: number
}

type Phase = 'before' | 'open' | 'after'

interface Taken {
  readonly phase: Phase
  readonly perSecond: number
  readonly claimUs: number | null
  /** Blocks of its tables and their indexes that the server read for one delivery. */
  readonly blocks: number
}

interface Size {
  readonly dead: number
  readonly tableBytes: number
  readonly indexBytes: number
}

interface Course {
  readonly way: BloatWay
  readonly taken: Taken[]
  /** At the end of the open snapshot. */
  size: Size | null
  hasCollapsed: boolean
}

/** Runs the ways in turns, slice by slice, on one database, and returns Markdown. */
export async function benchBloat(effort: BloatEffort): Promise<string> {
  const postgres = await startPostgres()
  const { connectionString } = postgres
  const courses: Course[] = []
  const add = (way: BloatWay) => courses.push({ way, taken: [], size: null, hasCollapsed: false })
  const [report, other] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
  try {
    await Promise.all([report.connect(), other.connect()])
    add(await openOurs(connectionString))
    if (peersMissing === null && process.env['BLOAT_OURS'] !== '1') {
      add(await openLibrary('pg-boss, batches of 500', connectionString))
      add(await openLibrary('graphile-worker', connectionString))
    }
    let from = 0
    const turns = async (phase: Phase, count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        for (const course of courses)
          await runSlice(report, course, phase, {
            slice: { from, count: effort.slice },
            mostSeconds: effort.mostSeconds,
          })
        from += effort.slice
      }
    }
    // Caches and plans.
    await turns('before', 1)
    for (const { taken } of courses) taken.length = 0
    await turns('before', effort.around)
    await other.query('begin isolation level repeatable read')
    await other.query('select 1')
    await turns('open', effort.open)
    await report.query('select pg_stat_force_next_flush()')
    for (const course of courses) course.size = await sizeOf(report, course.way.tables)
    await other.query('commit')
    await report.query('vacuum')
    await turns('after', effort.around)
    return [...markdown(courses, effort), ...(peersMissing === null ? [] : [peersMissing, ''])].join('\n')
  } finally {
    for (const { way } of courses) await way.close()
    await Promise.all([report.end(), other.end()])
    await postgres.remove()
  }
}

async function runSlice(
  client: pg.Client,
  course: Course,
  phase: Phase,
  { slice, mostSeconds }: { readonly slice: Slice; readonly mostSeconds: number },
): Promise<void> {
  if (course.hasCollapsed && phase === 'open') return
  const before = await blocksOf(client, course.way.tables)
  const { seconds, claimMs } = await course.way.run(slice)
  // Servers of idle connections report after a second.
  await wait(1_100)
  const blocks = ((await blocksOf(client, course.way.tables)) - before) / slice.count
  const claimUs = claimMs === null ? null : (claimMs / slice.count) * 1_000
  course.taken.push({ phase, perSecond: slice.count / seconds, claimUs, blocks })
  course.hasCollapsed ||= phase === 'open' && seconds > mostSeconds
  if (process.env['BLOAT_LOG'] === '1')
    process.stderr.write(
      `${course.way.name}, ${phase}: ${(slice.count / seconds).toFixed(0)}/s ${claimUs?.toFixed(0) ?? ''} ${blocks.toFixed(0)}\n`,
    )
}

async function blocksOf(client: pg.Client, tables: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ blocks: string }>(
    `with recursive t (oid) as (
       select unnest($1::regclass[])::oid union all select i.inhrelid from pg_inherits i join t on t.oid = i.inhparent
     )
     select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) as blocks
     from pg_statio_user_tables s join t on t.oid = s.relid`,
    [tables],
  )
  return Number(rows[0]?.blocks)
}

async function sizeOf(client: pg.Client, tables: readonly string[]): Promise<Size> {
  const { rows } = await client.query<{ dead: string; heap: string; indexes: string }>(
    `with recursive t (oid) as (
       select unnest($1::regclass[])::oid union all select i.inhrelid from pg_inherits i join t on t.oid = i.inhparent
     )
     select sum(pg_stat_get_dead_tuples(oid)) as dead, sum(pg_relation_size(oid)) as heap,
       sum(pg_indexes_size(oid)) as indexes from t`,
    [tables],
  )
  const [row] = rows
  return { dead: Number(row?.dead), tableBytes: Number(row?.heap), indexBytes: Number(row?.indexes) }
}

function markdown(courses: readonly Course[], { slice, around, open, mostSeconds }: BloatEffort): string[] {
  const size = slice.toLocaleString('en')
  const rate = (taken: readonly Taken[]) => median(taken.map(({ perSecond }) => perSecond))
  const claim = (taken: readonly Taken[]) => {
    const found = taken.flatMap(({ claimUs }) => (claimUs === null ? [] : [claimUs]))
    return found.length === 0 ? '' : median(found).toFixed(0)
  }
  const mega = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  const lines = courses.map(({ way, taken, size: sizes, hasCollapsed }) => {
    const of = (phase: Phase) => taken.filter((each) => each.phase === phase)
    const [before, opened, after] = [of('before'), of('open'), of('after')]
    const last = opened.slice(-around)
    const cells = [
      hasCollapsed ? `${way.name}, stopped after ${opened.length} slices` : way.name,
      rate(before).toFixed(0),
      rate(opened.slice(0, around)).toFixed(0),
      rate(last).toFixed(0),
      (rate(last) / rate(before)).toFixed(2),
      rate(after).toFixed(0),
      [before, last, after].map(claim).filter(Boolean).join(', '),
      [before, last, after].map((each) => median(each.map(({ blocks }) => blocks)).toFixed(0)).join(', '),
      (sizes?.dead ?? 0).toLocaleString('en'),
      mega(sizes?.tableBytes ?? 0),
      mega(sizes?.indexBytes ?? 0),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `### ${open} slices of ${size} deliveries with an open snapshot`,
    '',
    `Medians of ${around} slices; load ${loadavg()[0]?.toFixed(1)}. A way stops once a slice takes over ${mostSeconds} s.`,
    '',
    '| | before, per second | first with the snapshot | last | last of before | after | claim µs before, last, after | blocks before, last, after | dead rows | table MiB | indexes MiB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ]
}
