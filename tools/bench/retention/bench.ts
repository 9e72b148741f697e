/** Measures a database whose history ends, day after day: its size, its claims, and the runs. @module */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RetentionPolicy, Service } from '@payment-integration/core'
import type { SettledAttempt, Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { createFolderArchive } from '../../../packages/cli/src/archive/folder-archive.js'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { serviceOn } from '../console/database.js'
import { integrations, storePayments } from '../updates/payments.js'
import { fillDay } from './fill.js'

/** How much to measure. */
export interface RetentionEffort {
  /** Payments of all days together. */
  readonly payments: number
  readonly days: number
  /** Days after which history ends. */
  readonly kept: number
  /** Deliveries that are claimed and settled at the end of each day. */
  readonly measured: number
}

const dayMs = 86_400_000
/** Payments of a transaction, and deliveries of a claim. */
const batch = 250

interface Day {
  readonly historyBytes: number
  readonly otherBytes: number
  readonly deliveryUs: number
  readonly removed: number
  readonly archivedBytes: number
  readonly runSeconds: number
}

/** Lives through the days on PostgreSQL, and returns Markdown. */
export async function benchRetention(effort: RetentionEffort): Promise<string> {
  const server = await startPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'bench-retention-'))
  let now = Date.UTC(2026, 0, 1)
  const { connectionString } = server
  const store = createPostgresStore({ connectionString, clock: { now: () => now } })
  const client = new pg.Client({ connectionString })
  try {
    await client.connect()
    await store.migrate()
    const service = serviceOn(store, { now: () => now })
    for (const [n, address] of integrations.entries())
      await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${n}` })
    const days: Day[] = []
    for (let day = 0; day < effort.days; day += 1) {
      await fillDay(client, { now, day, payments: Math.ceil(effort.payments / effort.days) })
      await client.query('vacuum analyze')
      const deliveryUs = await deliver(store, day, effort.measured)
      now += dayMs
      const run = await runRetention(service, folder, effort.kept * dayMs)
      days.push({ ...(await sizesOf(client)), deliveryUs, ...run })
      // A run of 20 million payments takes more than an hour: one that is stopped has still shown its days.
      console.error(rowOf(days.length, days.at(-1) as Day))
    }
    return markdown(effort, days)
  } finally {
    await client.end()
    await store.close()
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Processor and waiting time of a delivery: its claim and its settlement. */
async function deliver(store: Store, day: number, count: number): Promise<number> {
  let us = 0
  for (let done = 0; done < count; done += batch) {
    await storePayments(store, day * count + done, batch)
    const begun = performance.now()
    const claims = await store.deliveries.claim({ limit: batch, leaseMs: 600_000 })
    const settled = claims.map((claim): SettledAttempt => {
      const attempt = { startedAt: claim.ageMs, latencyMs: 1, status: 204, reason: null, excerpt: null, replay: false }
      return { claim, attempt, verdict: { kind: 'delivered' } }
    })
    await store.deliveries.settle(settled, () => ({ failures: 0, blocks: 0, blockMs: null }))
    us += (performance.now() - begun) * 1_000
    if (claims.length !== batch) throw new Error(`${claims.length} of ${batch} deliveries were due.`)
  }
  return us / count
}

async function runRetention(service: Service, folder: string, ms: number) {
  const policy: RetentionPolicy = { attempts: null, deliveries: ms, updates: ms, audit: null }
  let [removed, archivedBytes] = [0, 0]
  const begun = performance.now()
  const files: string[] = []
  await service.history.run(policy, createFolderArchive({ folder }), {
    onProgress(progress) {
      if (progress.event !== 'removed') return
      removed += progress.history.rows
      files.push(progress.file.name)
    },
  })
  const runSeconds = (performance.now() - begun) / 1_000
  for (const name of files) {
    archivedBytes += (await stat(join(folder, name))).size
    await rm(join(folder, name))
  }
  return { removed, archivedBytes, runSeconds }
}

async function sizesOf(client: pg.Client): Promise<Pick<Day, 'historyBytes' | 'otherBytes'>> {
  const { rows } = await client.query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(relid)::float8 as bytes from pg_stat_user_tables`,
  )
  const isHistory = ({ name }: { name: string }) => /^(snapshots|attempts|updates)/.test(name)
  const sum = (of: typeof rows) => of.reduce((total, { bytes }) => total + bytes, 0)
  return { historyBytes: sum(rows.filter(isHistory)), otherBytes: sum(rows.filter((row) => !isHistory(row))) }
}

function rowOf(number: number, day: Day): string {
  const mega = (bytes: number) => Math.round(bytes / 2 ** 20).toLocaleString('en')
  const cells = [
    ...[number, mega(day.historyBytes), mega(day.otherBytes), day.deliveryUs.toFixed(0)],
    ...[day.removed.toLocaleString('en'), mega(day.archivedBytes), day.runSeconds.toFixed(1)],
  ]
  return `| ${cells.join(' | ')} |`
}

function markdown({ payments, days: count, kept, measured }: RetentionEffort, days: readonly Day[]): string {
  return [
    `### History that ends after ${kept} days, PostgreSQL`,
    '',
    `${payments.toLocaleString('en')} payments in ${count} days, each with a delivered version and an update; ${measured.toLocaleString('en')} deliveries measured a day; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| day | history, MiB | payments and others, MiB | claim and settlement of a delivery, µs | rows removed | their files, MiB | the run, s |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...days.map((day, index) => rowOf(index + 1, day)),
    '',
  ].join('\n')
}
