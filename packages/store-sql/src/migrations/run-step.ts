/** Runs one step of a migration. @module */
import type { SchemaProgress } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { integer } from '../internal/values.js'
import { lockMs, whileBusy } from '../internal/while-busy.js'
import type { Integer } from '../schema/integer.js'
import type { Step } from '../schema/migration.js'
import { createVersionTable, readVersions, type VersionState, writeVersion } from './versions.js'

/** Ids of a batch: the first one, and the bounds of the others. */
const [firstBatch, leastBatch, mostBatch] = [1_000, 100, 10_000]
/** Intended duration of a batch, in milliseconds. */
const batchMs = 100

/** Where a step begins and ends. */
export interface StepRun {
  /** As it was read; undefined: the version has not begun. */
  readonly before: VersionState | undefined
  readonly state: VersionState
  /** The state once the step is done. */
  readonly next: VersionState
  report(event: SchemaProgress['event'], share: number): void
}

/** Runs a step, and stores that it is done. */
export async function runStep(engine: Engine, step: Step, run: StepRun): Promise<void> {
  switch (step.kind) {
    case 'statements':
      return runStatements(engine, step, run)
    case 'index':
      await whileBusy(
        () => engine.makeIndex(step.index),
        () => run.report('waiting', 0),
      )
      return inStep(engine, run, (db) => writeVersion(db, engine.dialect, run.next))
    case 'backfill':
      return backfill(engine, step, run)
  }
}

/**
 * Does nothing when another process has done the step. On SQLite processes migrate at the same time. On PostgreSQL the
 * lease of a process that stalls may end, and the last statement of a killed process goes on.
 */
async function inStep(
  { transaction, dialect }: Engine,
  run: StepRun,
  work: (db: Connection) => Promise<unknown>,
  share = 0,
): Promise<void> {
  const { before, state } = run
  const inTransaction = () =>
    transaction(
      async (db) => {
        await dialect.waitAtMost(db, lockMs)
        await dialect.lock(db, 'schema')
        const now = (await readVersions(db, dialect)).find(({ version }) => version === state.version)
        if (now?.phase === before?.phase && now?.steps === before?.steps) await work(db)
      },
      { isLong: true },
    )
  await whileBusy(inTransaction, () => run.report('waiting', share))
}

function runStatements(engine: Engine, { statements }: Step & { kind: 'statements' }, run: StepRun): Promise<void> {
  const { dialect } = engine
  return inStep(engine, run, async (db) => {
    await createVersionTable(db, dialect)
    const until = performance.now() + lockMs
    for (const statement of statements(dialect.types, dialect.name)) {
      // The first statement's lock blocks others while the second one waits: together they wait for a second at most.
      await dialect.waitAtMost(db, Math.max(1, Math.floor(until - performance.now())))
      await sql.raw(statement).execute(db)
    }
    await writeVersion(db, dialect, run.next)
  })
}

async function backfill(
  engine: Engine,
  { table, set, where = 'true' }: Step & { kind: 'backfill' },
  run: StepRun,
): Promise<void> {
  const { dialect, read } = engine
  const { state } = run
  const name = sql.raw(dialect.name(table))
  const { rows } = await sql<{ id: Integer }>`select coalesce(max(id), 0) as id from ${name}`.execute(read)
  // The old release goes on: its later rows are left to the contract phase.
  const last = integer(rows[0]?.id ?? 0)
  let { before } = run
  let position = state.position
  let ids = firstBatch
  while (position < last) {
    const to = Math.min(last, position + ids)
    const begun = performance.now()
    const work = async (db: Connection) => {
      await sql`update ${name} set ${sql.raw(set)}
        where id > ${position} and id <= ${to} and (${sql.raw(where)})`.execute(db)
      await writeVersion(db, dialect, { ...state, position: to })
    }
    await inStep(engine, { ...run, before }, work, position / last)
    before = { ...state, position: to }
    ids = nextBatch(ids, performance.now() - begun)
    position = to
    run.report('progress', position / last)
  }
  await inStep(engine, { ...run, before }, (db) => writeVersion(db, dialect, run.next), 1)
}

/** Others wait for the rows of a batch until it commits. */
function nextBatch(ids: number, tookMs: number): number {
  if (tookMs > 2 * batchMs) return Math.max(leastBatch, Math.floor(ids / 2))
  return tookMs < batchMs / 2 ? Math.min(mostBatch, ids * 2) : ids
}
