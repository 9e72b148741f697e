/** Measures how long others wait while a migration changes a large table of PostgreSQL. @module */
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { SchemaProgress, Store } from '@payment-integration/core/ports'
import { createPostgresStore, postgresStoreDefaults } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { createStore } from '../../../packages/store-sql/src/create-store.js'
import { createPostgresEngine } from '../../../packages/store-sql/src/postgres/postgres-engine.js'
import { openFilled } from '../console/database.js'
import { versions } from '../console/dataset.js'
import { median } from '../measure.js'
import { type Load, type Operation, startLoad } from './load.js'
import { migrations, removeMigration } from './migration.js'

/** How much to measure. */
export interface UpgradeEffort {
  /** Each has several snapshots. */
  readonly payments: number
  /** Time without a migration, in milliseconds. */
  readonly idleMs: number
  /** The folder of databases that stay; null: temporary ones. */
  readonly keep: string | null
}

/** A step, or the time without one. */
interface Span {
  readonly name: string
  readonly from: number
  to: number
  waits: number
}

const { schema } = postgresStoreDefaults

/** Fills or opens a database, migrates it under load, and returns Markdown. */
export async function benchUpgrade({ payments, idleMs, keep }: UpgradeEffort): Promise<string> {
  const database = await openFilled('PostgreSQL', { payments, keep })
  try {
    await removeMigration(database.url, schema)
    const before = loadavg()[0]
    const last = createPostgresStore({ connectionString: database.url })
    const load = startLoad(last)
    const spans = await migrateUnder(load, nextStore(database.url), idleMs).finally(() => last.close())
    return report(payments, before, spans, load.operations)
  } finally {
    await database.end()
  }
}

function nextStore(connectionString: string): Store {
  const pool = new pg.Pool({ connectionString })
  return createStore(createPostgresEngine(pool, { schema, end: () => pool.end() }), undefined, migrations)
}

async function migrateUnder(load: Load, store: Store, idleMs: number): Promise<readonly Span[]> {
  const spans: Span[] = []
  const begin = (name: string) => spans.push({ name, from: performance.now(), to: Number.NaN, waits: 0 })
  const end = () => {
    const span = spans.at(-1)
    if (span !== undefined) span.to = performance.now()
  }
  const follow = ({ event, about }: SchemaProgress) => {
    const span = spans.at(-1)
    if (event === 'begun') begin(about)
    if (event === 'done') end()
    if (event === 'waiting' && span !== undefined) span.waits += 1
  }
  await delay(idleMs / 10)
  begin('no migration')
  await delay(idleMs)
  end()
  await store.migrate(follow)
  await store.schema.contract(follow)
  await load.stop()
  await store.close()
  return spans
}

function report(
  payments: number,
  before: number | undefined,
  spans: readonly Span[],
  operations: readonly Operation[],
): string {
  const rows = spans.map(({ name, from, to, waits }) => {
    const of = (kind: Operation['kind']) =>
      operations
        .filter((each) => each.kind === kind && each.to > from && each.from < to)
        .map((each) => each.to - each.from)
    const [writes, reads] = [of('write'), of('read')]
    const times = [writes, reads].map((each) => `${median(each).toFixed(1)} | ${longest(each).toFixed(0)}`)
    return `| ${name} | ${((to - from) / 1_000).toFixed(1)} | ${times.join(' | ')} | ${writes.length + reads.length} | ${waits} |`
  })
  return [
    `### A migration of ${(payments * versions).toLocaleString('en')} snapshots under load, PostgreSQL`,
    '',
    `Load ${before?.toFixed(1)} before, ${loadavg()[0]?.toFixed(1)} after.`,
    '',
    '| | seconds | write, median ms | longest ms | read, median ms | longest ms | operations | waits for a lock |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

const longest = (times: readonly number[]): number => times.reduce((most, each) => Math.max(most, each), 0)
