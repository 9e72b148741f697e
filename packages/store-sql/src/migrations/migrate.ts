/** Migrates the schema of a database, step by step. Source: docs/upgrades.md. @module */
import { StoreError } from '@payment-integration/core'
import type { SchemaProgress, SchemaReport, SchemaStep, StoreSchema } from '@payment-integration/core/internal'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { lockMs, toNumber, whileBusy } from '../internal/values.js'
import { baseline } from '../schema/baseline.js'
import type { Integer, Migration, Step } from '../schema/migration.js'

/** The schema version of the first release; development schemas have lower numbers. */
const baselineVersion = 200

/** All migrations, in order: the first brings an empty database to version 200, the next to 201, and so on. */
export const releasedMigrations: readonly Migration[] = [
  { expand: [{ kind: 'statements', about: 'create all tables', statements: baseline }], contract: [] },
]

const getNewestVersion = (migrations: readonly Migration[]): number => baselineVersion + migrations.length - 1

/** A phase of a migration. For each version, the phase that runs or ran last is stored. */
type Phase = 'expand' | 'contract'

export interface VersionState {
  readonly version: number
  readonly phase: Phase
  /** The completed steps of the phase. */
  readonly steps: number
  readonly isDone: boolean
  /** The highest id that the current backfill has changed. */
  readonly position: number
}

const table = 'schema_versions'

/** Rejects the schema of a development release with `ERR_STORE_SCHEMA`. */
async function readVersions(db: Connection): Promise<VersionState[]> {
  if (!(await db.dialect.hasTable(db, table))) return []
  type Row = Record<'version' | 'steps' | 'done' | 'position', Integer> & { readonly phase: Phase }
  // The table of a development release has no other column than the version.
  const { rows } = await sql<Row>`select * from ${sql.raw(db.dialect.name(table))} order by version`.execute(db)
  const old = rows.find(({ version }) => toNumber(version) < baselineVersion)
  if (old !== undefined)
    throw new StoreError(
      'ERR_STORE_SCHEMA',
      `The database has schema version ${old.version} of a development release; start with an empty database.`,
    )
  return rows.map((row) => ({
    version: toNumber(row.version),
    phase: row.phase,
    steps: toNumber(row.steps),
    isDone: toNumber(row.done) === 1,
    position: toNumber(row.position),
  }))
}

async function createVersionTable(db: Connection): Promise<void> {
  // CREATE TABLE IF NOT EXISTS needs the right to create even if the table exists; the role of a worker lacks it.
  if (await db.dialect.hasTable(db, table)) return
  const { integer: integerType, code, tableOptions } = db.dialect.types
  const text = `create table ${db.dialect.name(table)} (version ${integerType} not null primary key,
    phase ${code} not null, steps ${integerType} not null, done ${integerType} not null,
    position ${integerType} not null)${tableOptions()}`
  await sql.raw(text).execute(db)
}

export async function writeVersion(db: Connection, state: VersionState): Promise<void> {
  const { version, phase, steps, isDone, position } = state
  await sql`insert into ${sql.raw(db.dialect.name(table))} (version, phase, steps, done, position)
    values (${version}, ${phase}, ${steps}, ${isDone ? 1 : 0}, ${position})
    on conflict (version) do update
    set phase = excluded.phase, steps = excluded.steps, done = excluded.done, position = excluded.position`.execute(db)
}

/** Ids per batch: of the first one, and the limits of the others. */
const [firstBatch, minBatch, maxBatch] = [1_000, 100, 10_000]
/** Intended duration of a batch, in milliseconds. */
const batchMs = 100

interface StepRun {
  /** The stored state; undefined before the version has begun. */
  readonly before: VersionState | undefined
  readonly state: VersionState
  /** The state after the step. */
  readonly next: VersionState
  report(event: SchemaProgress['event'], share: number): void
}

async function runStep(engine: Engine, step: Step, run: StepRun): Promise<void> {
  switch (step.kind) {
    case 'statements':
      return runStatements(engine, step, run)
    case 'index':
      await whileBusy(
        () => engine.createIndex(step.index),
        () => run.report('waiting', 0),
      )
      return commitStep(engine, run, (db) => writeVersion(db, run.next))
    case 'backfill':
      return backfill(engine, step, run)
  }
}

/**
 * Commits a step, unless another process has completed it. On SQLite processes migrate concurrently. On PostgreSQL a
 * stalled process may lose its lease, and the last statement of a killed process continues.
 */
async function commitStep(
  { transaction }: Engine,
  run: StepRun,
  work: (db: Connection) => Promise<unknown>,
  share = 0,
): Promise<void> {
  const { before, state } = run
  const inTransaction = () =>
    transaction(
      async (db) => {
        await db.dialect.waitAtMost(db, lockMs)
        await db.dialect.lock(db, 'schema')
        const current = (await readVersions(db)).find(({ version }) => version === state.version)
        if (current?.phase === before?.phase && current?.steps === before?.steps) await work(db)
      },
      { isLong: true },
    )
  await whileBusy(inTransaction, () => run.report('waiting', share))
}

function runStatements(engine: Engine, { statements }: Step & { kind: 'statements' }, run: StepRun): Promise<void> {
  const { dialect } = engine
  return commitStep(engine, run, async (db) => {
    await createVersionTable(db)
    const until = performance.now() + lockMs
    for (const statement of statements(dialect.types, dialect.name)) {
      // The lock of the first statement blocks others while the second one waits, so together they wait one second.
      await dialect.waitAtMost(db, Math.max(1, Math.floor(until - performance.now())))
      await sql.raw(statement).execute(db)
    }
    await writeVersion(db, run.next)
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
  // The old release keeps running: the contract phase fills the rows that it inserts later.
  const last = toNumber(rows[0]?.id ?? 0)
  let { before } = run
  let position = state.position
  let ids = firstBatch
  while (position < last) {
    const to = Math.min(last, position + ids)
    const begun = performance.now()
    const work = async (db: Connection) => {
      await sql`update ${name} set ${sql.raw(set)}
        where id > ${position} and id <= ${to} and (${sql.raw(where)})`.execute(db)
      await writeVersion(db, { ...state, position: to })
    }
    await commitStep(engine, { ...run, before }, work, position / last)
    before = { ...state, position: to }
    ids = computeNextBatch(ids, performance.now() - begun)
    position = to
    run.report('progress', position / last)
  }
  await commitStep(engine, { ...run, before }, (db) => writeVersion(db, run.next), 1)
}

/** Other transactions wait for the rows of a batch until it commits. */
function computeNextBatch(ids: number, tookMs: number): number {
  if (tookMs > 2 * batchMs) return Math.max(minBatch, Math.floor(ids / 2))
  return tookMs < batchMs / 2 ? Math.min(maxBatch, ids * 2) : ids
}

interface Part {
  readonly version: number
  readonly phase: Phase
  readonly steps: readonly Step[]
}

/**
 * Runs the missing expand steps of this release, and in an empty database all steps. On a current schema nothing is
 * locked or created, so a role without the right to create may run it.
 */
export async function migrate(
  engine: Engine,
  migrations: readonly Migration[] = releasedMigrations,
  report: SchemaReport = () => undefined,
): Promise<void> {
  const { read } = engine
  const before = await readCheckedVersions(engine)
  rejectContracted(before, migrations)
  if (findPending(before, migrations, 'expand').length === 0) return
  await engine.runExclusively(async () => {
    const versions = await readVersions(read)
    // A newer release may have migrated meanwhile.
    rejectContracted(versions, migrations)
    const isEmpty = versions.length === 0
    for (const part of listParts(migrations, 'expand')) await runPart(engine, part, report)
    // No older release runs on an empty database.
    if (isEmpty) for (const part of listParts(migrations, 'contract')) await runPart(engine, part, report)
  })
}

export function createSchema(engine: Engine, migrations: readonly Migration[] = releasedMigrations): StoreSchema {
  const describeSteps = async (versions: readonly VersionState[], phase: Phase): Promise<SchemaStep[]> => {
    const pending = findPending(versions, migrations, phase)
    return Promise.all(pending.map(async ({ version, step }) => describeStep(engine, version, step)))
  }
  return {
    check: async () => checkSchema(await readCheckedVersions(engine), migrations),
    async plan() {
      const versions = await readCheckedVersions(engine)
      rejectContracted(versions, migrations)
      const contract = versions.length === 0 ? [] : await describeSteps(versions, 'contract')
      return { expand: await describeSteps(versions, 'expand'), contract }
    },
    async contract(report = () => undefined) {
      const versions = await readCheckedVersions(engine)
      checkSchema(versions, migrations)
      if (findPending(versions, migrations, 'contract').length === 0) return
      await engine.runExclusively(async () => {
        for (const part of listParts(migrations, 'contract')) await runPart(engine, part, report)
      })
    },
  }
}

async function readCheckedVersions({ check, read }: Engine): Promise<VersionState[]> {
  await check?.()
  return readVersions(read)
}

/** Rejects with `ERR_STORE_SCHEMA` when steps are missing, or a newer release removed what this code needs. */
function checkSchema(versions: readonly VersionState[], migrations: readonly Migration[]): void {
  rejectContracted(versions, migrations)
  if (findPending(versions, migrations, 'expand').length === 0) return
  const newest = versions.at(-1)
  const storedSchema =
    newest === undefined ? 'no tables yet' : `schema version ${newest.version}${newest.isDone ? '' : ', half-way'}`
  throw new StoreError(
    'ERR_STORE_SCHEMA',
    `The database has ${storedSchema}, and this release needs version ${getNewestVersion(migrations)}. Migrate it first: payment-integration migrate apply.`,
  )
}

function rejectContracted(versions: readonly VersionState[], migrations: readonly Migration[]): void {
  const newest = getNewestVersion(migrations)
  const removed = versions.find(({ version, phase }) => version > newest && phase === 'contract')
  if (removed === undefined) return
  throw new StoreError(
    'ERR_STORE_SCHEMA',
    `The database has schema version ${removed.version}, which lacks what this release needs (version ${newest}); run the newer release.`,
  )
}

const listParts = (migrations: readonly Migration[], phase: Phase): Part[] =>
  migrations.map((migration, index) => ({ version: baselineVersion + index, phase, steps: migration[phase] }))

function countDone(versions: readonly VersionState[], { version, phase, steps }: Part): number {
  const state = versions.find((each) => each.version === version)
  if (state === undefined) return 0
  if (state.phase !== phase) return phase === 'expand' ? steps.length : 0
  return state.steps
}

function findPending(versions: readonly VersionState[], migrations: readonly Migration[], phase: Phase) {
  return listParts(migrations, phase).flatMap((part) =>
    part.steps.slice(countDone(versions, part)).map((step) => ({ version: part.version, step })),
  )
}

async function describeStep({ read, dialect }: Engine, version: number, step: Step): Promise<SchemaStep> {
  const table = step.kind === 'backfill' ? step.table : step.kind === 'index' ? step.index.table : null
  return { version, about: step.about, rows: table === null ? null : await dialect.estimateRows(read, table) }
}

async function runPart(engine: Engine, part: Part, report: SchemaReport): Promise<void> {
  for (;;) {
    const versions = await readVersions(engine.read)
    const done = countDone(versions, part)
    const step = part.steps[done]
    if (step === undefined) return
    const { version, phase, steps } = part
    const before = versions.find((each) => each.version === version)
    const position = before?.phase === phase ? before.position : 0
    const state = { version, phase, steps: done, isDone: false, position }
    const progress = await describeStep(engine, version, step)
    report({ ...progress, event: 'begun', share: 0 })
    await runStep(engine, step, {
      before,
      state,
      next: { ...state, steps: done + 1, isDone: done + 1 === steps.length, position: 0 },
      report: (event, share) => report({ ...progress, event, share }),
    })
    report({ ...progress, event: 'done', share: 1 })
  }
}
