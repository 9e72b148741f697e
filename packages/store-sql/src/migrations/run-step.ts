/** Runs one step of a migration. @module */
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@payment-integration/core'
import type { SchemaProgress } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Engine, TransactionOptions } from '../engine.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Step } from '../schema/migration.js'
import { createVersionTable, readVersions, type VersionState, writeVersion } from './versions.js'

/** Longest wait of a step for a lock, in milliseconds: statements of others queue behind it meanwhile. */
const lockMs = 1_000
/** Pause before the next try, so that the queue empties. */
const pauseMs = 2_000
/** Most tries: about half an hour. */
const mostTries = 600
/** Ids of a batch. */
const batch = 5_000

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
      await engine.makeIndex(step.index)
      return inStep(engine, run, (db) => writeVersion(db, engine.dialect, run.next))
    case 'backfill':
      return backfill(engine, step, run)
  }
}

/** Does nothing when another process has done the step: on SQLite processes migrate at the same time. */
async function inStep(
  { transaction, dialect }: Engine,
  { before, state }: StepRun,
  work: (db: Connection) => Promise<unknown>,
  options?: TransactionOptions,
): Promise<void> {
  await transaction(async (db) => {
    const now = (await readVersions(db, dialect)).find(({ version }) => version === state.version)
    if (now?.phase === before?.phase && now?.steps === before?.steps) await work(db)
  }, options)
}

async function runStatements(
  engine: Engine,
  { statements }: Step & { kind: 'statements' },
  run: StepRun,
): Promise<void> {
  const { dialect } = engine
  const work = async (db: Connection) => {
    await dialect.waitAtMost(db, lockMs)
    await dialect.createSchema(db)
    await createVersionTable(db, dialect)
    for (const statement of statements(dialect.types, dialect.name)) await sql.raw(statement).execute(db)
    await writeVersion(db, dialect, run.next)
  }
  for (let tries = 1; ; tries += 1)
    try {
      return await inStep(engine, run, work, { isLong: true })
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'ERR_STORE_BUSY') || tries === mostTries) throw error
      run.report('waiting', 0)
      await delay(pauseMs)
    }
}

async function backfill(engine: Engine, { table, set }: Step & { kind: 'backfill' }, run: StepRun): Promise<void> {
  const { dialect, read } = engine
  const { state } = run
  const name = sql.raw(dialect.name(table))
  const { rows } = await sql<{ id: Integer }>`select coalesce(max(id), 0) as id from ${name}`.execute(read)
  // Rows that are added meanwhile come from code that fills the column, or from a default.
  const last = integer(rows[0]?.id ?? 0)
  let position = state.position
  while (position < last) {
    const to = Math.min(last, position + batch)
    await inStep(engine, run, async (db) => {
      await sql`update ${name} set ${sql.raw(set)} where id > ${position} and id <= ${to}`.execute(db)
      await writeVersion(db, dialect, { ...state, position: to })
    })
    position = to
    run.report('progress', position / last)
  }
  await inStep(engine, run, (db) => writeVersion(db, dialect, run.next))
}
