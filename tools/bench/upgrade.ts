/** Measures how long others wait while a migration changes a large table of PostgreSQL. @module */
import { setTimeout as delay } from 'node:timers/promises'
import type { SchemaProgress } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { createStore } from '../../packages/store-sql/src/create-store.js'
import { releasedMigrations } from '../../packages/store-sql/src/migrations/migrate.js'
import { createPostgresEngine } from '../../packages/store-sql/src/postgres/postgres-engine.js'
import type { Migration } from '../../packages/store-sql/src/schema/migration.js'
import { type BenchDatabase, createServiceOn } from './databases.js'
import { type FillOptions, integrationAt, integrationCount, openFilled, versionCount } from './filled.js'
import { storePayments, updateAt } from './payments.js'
import { median, round, type Table } from './report.js'

export interface UpgradeEffort extends FillOptions {
  /** Time without a migration, in milliseconds. */
  readonly idleMs: number
}

/** A step of the migration, or the time without a migration. */
interface Span {
  readonly name: string
  readonly from: number
  to: number
  waits: number
}

const schema = 'payment_integration'

export async function benchUpgrade({ payments, idleMs, keep }: UpgradeEffort): Promise<Table[]> {
  const database = await openFilled('PostgreSQL', { payments, keep })
  try {
    await removeMigration(database)
    const releasedStore = createPostgresStore({ connectionString: database.url })
    const load = startLoad(releasedStore)
    const spans = await migrateUnder(load, createNextStore(database.url), idleMs).finally(() => releasedStore.close())
    await removeMigration(database)
    return [buildTable(payments, spans, load.operations)]
  } finally {
    await database.end()
  }
}

function createNextStore(connectionString: string): Store {
  const pool = new pg.Pool({ connectionString })
  return createStore(createPostgresEngine(pool, { schema, end: () => pool.end() }), undefined, migrations)
}

async function migrateUnder(load: ReturnType<typeof startLoad>, store: Store, idleMs: number) {
  const spans: Span[] = []
  const begin = (name: string) => spans.push({ name, from: performance.now(), to: Number.NaN, waits: 0 })
  const end = () => {
    const span = spans.at(-1)
    if (span !== undefined) span.to = performance.now()
  }
  const onProgress = ({ event, about }: SchemaProgress) => {
    const span = spans.at(-1)
    if (event === 'begun') begin(about)
    if (event === 'done') end()
    if (event === 'waiting' && span !== undefined) span.waits += 1
  }
  await delay(idleMs / 10)
  begin('no migration')
  await delay(idleMs)
  end()
  await store.migrate(onProgress)
  await store.schema.contract(onProgress)
  await load.stop()
  await store.close()
  return spans
}

function buildTable(payments: number, spans: readonly Span[], operations: readonly Operation[]): Table {
  const rows = spans.map(({ name, from, to, waits }) => {
    const during = operations.filter((each) => each.to > from && each.from < to)
    const times = (['write', 'read'] as const).flatMap((kind) => {
      const of = during.filter((each) => each.kind === kind).map((each) => each.to - each.from)
      return [round(median(of), 1), round(Math.max(0, ...of))]
    })
    return [name, round((to - from) / 1_000, 1), ...times, during.length, waits]
  })
  const times = ['write, median ms', 'write, longest ms', 'read, median ms', 'read, longest ms']
  return {
    title: `A migration of ${(payments * versionCount).toLocaleString('en')} snapshots under load, PostgreSQL`,
    columns: ['', 'seconds', ...times, 'operations', 'waits for a lock'],
    rows,
  }
}

/** An operation, in milliseconds of this process's clock. */
interface Operation {
  readonly kind: 'write' | 'read'
  readonly from: number
  readonly to: number
}

/** Starts one session that writes and one that reads, until they are stopped. */
function startLoad(store: Store) {
  const operations: Operation[] = []
  let isStopping = false
  const timed = async (kind: Operation['kind'], work: () => Promise<unknown>) => {
    const from = performance.now()
    await work()
    operations.push({ kind, from, to: performance.now() })
  }
  const write = async () => {
    const service = createServiceOn(store)
    // Each run has other payments: a kept database still has those of the last run.
    for (let n = Math.floor(Date.now() / 100) % 1_000_000_000; !isStopping; n += 1) {
      await timed('write', () => storePayments(store, { from: n, count: 1 }))
      for (const round of [0, 1]) await timed('write', () => service.applyUpdate(updateAt(n, round)))
    }
  }
  const read = async () => {
    for (let n = 0; !isStopping; n += 1) {
      const integrationAddress = integrationAt(n % integrationCount)
      await timed('read', () => store.payments.list({ integrationAddress, limit: 50 }))
      await timed('read', () => store.deliveries.find(String(1 + ((n * 7_919) % 10_000))))
    }
  }
  const running = [write(), read()]
  for (const each of running) each.catch(() => undefined)
  return {
    operations,
    /** @throws The error of an operation that failed. */
    async stop() {
      isStopping = true
      await Promise.all(running)
    },
  }
}
const indexName = 'snapshots_bench_bytes'
const checkName = 'snapshots_bench_bytes_check'
const backfillSet = 'bench_bytes = octet_length(body)'

const madeUpMigration: Migration = {
  expand: [
    {
      kind: 'statements',
      about: 'add a nullable column',
      statements: ({ int }, name) => [`alter table ${name('snapshots')} add column bench_bytes ${int}`],
    },
    { kind: 'backfill', about: 'backfill the column', table: 'snapshots', set: backfillSet },
    { kind: 'index', about: 'make an index', index: { name: indexName, table: 'snapshots', columns: '(bench_bytes)' } },
    {
      kind: 'statements',
      about: 'add a check, not valid',
      statements: (_, name) => [
        `alter table ${name('snapshots')} add constraint ${checkName} check (bench_bytes >= 0) not valid`,
      ],
    },
    // A step of its own: in the transaction of the check it would keep that statement's lock.
    {
      kind: 'statements',
      about: 'validate the check',
      statements: (_, name) => [`alter table ${name('snapshots')} validate constraint ${checkName}`],
    },
  ],
  contract: [
    {
      kind: 'backfill',
      about: 'backfill rows of the last release',
      table: 'snapshots',
      set: backfillSet,
      where: 'bench_bytes is null',
    },
    {
      kind: 'statements',
      about: 'drop the column',
      statements: (_, name) => [`alter table ${name('snapshots')} drop column bench_bytes`],
    },
  ],
}

/** The released migrations and the made-up one. */
const migrations: readonly Migration[] = [...releasedMigrations, madeUpMigration]

/** Removes the migration from a database that stays for other benches, or that a failed run left. */
async function removeMigration(database: BenchDatabase): Promise<void> {
  const connection = await database.connect()
  await connection.run('alter table snapshots drop column if exists bench_bytes')
  await connection.run('delete from schema_versions where version > 200')
  await connection.run('vacuum snapshots')
  await connection.close()
}
