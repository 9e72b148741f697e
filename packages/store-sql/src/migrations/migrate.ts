/** Brings the schema of a database from version to version. Source: docs/upgrades.md. @module */
import { StoreError } from '@payment-integration/core'
import type { SchemaReport, SchemaStep, StoreSchema } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import type { Migration, Step } from '../schema/migration.js'
import { baselineVersion, newestVersion, releasedMigrations } from './released.js'
import { runStep } from './run-step.js'
import { type Phase, readVersions, type VersionState } from './versions.js'

/** Steps in a row of one version and phase. */
interface Part {
  readonly version: number
  readonly phase: Phase
  readonly steps: readonly Step[]
}

/**
 * Runs the missing steps that make room for this release; in an empty database all steps. On a current schema nothing
 * is locked or created: a role without the right to create may run it.
 * @param migrations - Tests pass their own.
 * @throws StoreError `ERR_STORE_SCHEMA` as {@link checkSchema}, but for a schema that is behind; `ERR_STORE_ENGINE`.
 */
export async function migrate(
  engine: Engine,
  migrations: readonly Migration[] = releasedMigrations,
  report: SchemaReport = () => undefined,
): Promise<void> {
  const { read, dialect } = engine
  const before = await checkedVersions(engine)
  rejectContracted(before, migrations)
  if (pendingOf(before, migrations, 'expand').length === 0) return
  await engine.exclusively(async () => {
    const versions = await readVersions(read, dialect)
    // The newer release may have migrated meanwhile.
    rejectContracted(versions, migrations)
    const isEmpty = versions.length === 0
    for (const part of parts(migrations, 'expand')) await runPart(engine, part, report)
    // No older release runs on an empty database.
    if (isEmpty) for (const part of parts(migrations, 'contract')) await runPart(engine, part, report)
  })
}

/** The schema port, apart from `migrate`. */
export function createSchema(engine: Engine, migrations: readonly Migration[] = releasedMigrations): StoreSchema {
  const stepsOf = async (versions: readonly VersionState[], phase: Phase): Promise<SchemaStep[]> => {
    const pending = pendingOf(versions, migrations, phase)
    return Promise.all(pending.map(async ({ version, step }) => described(engine, version, step)))
  }
  return {
    check: async () => checkSchema(await checkedVersions(engine), migrations),
    async plan() {
      const versions = await checkedVersions(engine)
      rejectContracted(versions, migrations)
      const contract = versions.length === 0 ? [] : await stepsOf(versions, 'contract')
      return { expand: await stepsOf(versions, 'expand'), contract }
    },
    async contract(report = () => undefined) {
      const versions = await checkedVersions(engine)
      checkSchema(versions, migrations)
      if (pendingOf(versions, migrations, 'contract').length === 0) return
      await engine.exclusively(async () => {
        for (const part of parts(migrations, 'contract')) await runPart(engine, part, report)
      })
    },
  }
}

/** The versions, of a database that this release may use. */
async function checkedVersions({ check, read, dialect }: Engine): Promise<VersionState[]> {
  await check?.()
  return readVersions(read, dialect)
}

/**
 * Checks that code which knows these migrations can work.
 * @throws StoreError `ERR_STORE_SCHEMA` when steps are missing, or a newer release removed what this code needs.
 */
function checkSchema(versions: readonly VersionState[], migrations: readonly Migration[]): void {
  rejectContracted(versions, migrations)
  if (pendingOf(versions, migrations, 'expand').length === 0) return
  const newest = versions.at(-1)
  const has =
    newest === undefined ? 'no tables yet' : `schema version ${newest.version}${newest.isDone ? '' : ', half-way'}`
  throw new StoreError(
    'ERR_STORE_SCHEMA',
    `The database has ${has}, and this release needs version ${newestVersion(migrations)}. Migrate it first: payment-integration migrate apply.`,
  )
}

function rejectContracted(versions: readonly VersionState[], migrations: readonly Migration[]): void {
  const newest = newestVersion(migrations)
  const removed = versions.find(({ version, phase }) => version > newest && phase === 'contract')
  if (removed === undefined) return
  throw new StoreError(
    'ERR_STORE_SCHEMA',
    `The database has schema version ${removed.version} without what this release needs, which knows ${newest}; run the newer release.`,
  )
}

const parts = (migrations: readonly Migration[], phase: Phase): Part[] =>
  migrations.map((migration, index) => ({ version: baselineVersion + index, phase, steps: migration[phase] }))

/** How many steps of a part are done. */
function doneOf(versions: readonly VersionState[], { version, phase, steps }: Part): number {
  const state = versions.find((each) => each.version === version)
  if (state === undefined) return 0
  if (state.phase !== phase) return phase === 'expand' ? steps.length : 0
  return state.steps
}

function pendingOf(versions: readonly VersionState[], migrations: readonly Migration[], phase: Phase) {
  return parts(migrations, phase).flatMap((part) =>
    part.steps.slice(doneOf(versions, part)).map((step) => ({ version: part.version, step })),
  )
}

async function described({ read, dialect }: Engine, version: number, step: Step): Promise<SchemaStep> {
  const table = step.kind === 'backfill' ? step.table : step.kind === 'index' ? step.index.table : null
  return { version, about: step.about, rows: table === null ? null : await dialect.estimateRows(read, table) }
}

async function runPart(engine: Engine, part: Part, report: SchemaReport): Promise<void> {
  for (;;) {
    const versions = await readVersions(engine.read, engine.dialect)
    const done = doneOf(versions, part)
    const step = part.steps[done]
    if (step === undefined) return
    const { version, phase, steps } = part
    const before = versions.find((each) => each.version === version)
    const position = before?.phase === phase ? before.position : 0
    const state = { version, phase, steps: done, isDone: false, position }
    const progress = await described(engine, version, step)
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
