import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { type BuiltProcess, buildCrashProcess } from './child.js'
import { createPostgresDatabase, type SeedDatabase } from './database.js'
import type { Point } from './probes.js'
import type { CrashLine } from './process-config.js'
import type { Captured } from './receiver.js'
import { type CrashRun, runSeed } from './run-seed.js'

/** A seed whose first block has payments that name an integration. */
const plan = { seed: 1, size: { blocks: 6, maxPerBlock: 3 } } as const
const getName = ({ body }: Captured) => {
  const { txHash, version } = JSON.parse(body.toString('utf8')) as { txHash: string; version: number }
  return `${txHash} ${version}`
}

const patience = { timeout: 300_000, interval: 5 }

/** Starts a process and records its reports. */
function listen(run: CrashRun, config: Parameters<CrashRun['start']>[0]) {
  const lines: CrashLine[] = []
  // A failed POST would let a newer version supersede it, and the number of deliveries would depend on the machine.
  const child = run.start({ ...config, isPatient: true }, (line) => lines.push(line))
  const count = (type: CrashLine['type']) => lines.filter((line) => line.type === type).length
  return {
    child,
    reported: (type: CrashLine['type']) => expect.poll(() => count(type), patience).toBeGreaterThan(0),
    delivered: () => count('delivered'),
    indexed: () => count('indexed') === run.script.expected.length,
    async kill() {
      child.signal('SIGKILL')
      await child.ended
    },
  }
}

/**
 * Freezes a dispatcher at a point for longer than its leases, lets another one take over, and thaws it. Resolves the
 * number of deliveries, the POSTs of both dispatchers, and the seed's report.
 */
async function freezeAt(point: Point, seedDatabase: SeedDatabase, bundle: string) {
  let posts: string[] = []
  const report = await runSeed({ ...plan, engine: seedDatabase.database.kind }, seedDatabase, bundle, async (run) => {
    run.receiver.heal()
    const horizon = run.horizon(1)
    const server = listen(run, { roles: ['server'], horizon, death: null })
    await expect.poll(() => run.firstUpdate() === run.script.updates.length && server.indexed(), patience).toBe(true)
    await server.kill()
    const death = { point, nth: 1, afterMs: 0, signal: 'SIGSTOP' } as const
    const frozen = listen(run, { roles: ['dispatcher'], horizon, death })
    await frozen.reported('frozen')
    const other = listen(run, { roles: ['dispatcher'], horizon, death: null })
    await expect.poll(() => other.delivered(), patience).toBe(deliveries(run))
    frozen.child.signal('SIGCONT')
    if (point === 'after post') await frozen.reported('lease lost')
    frozen.child.signal('SIGTERM')
    expect(await frozen.child.ended).toMatchObject({ code: 0, signal: null })
    expect(frozen.delivered()).toBe(0)
    await other.kill()
    posts = run.receiver.captured.map(getName)
    // The test ended both while they were idle.
    run.freezes += 1
  })
  expect(report.flaws).toEqual([])
  return { posts, report }
}

/** Number of snapshots to deliver. */
function deliveries({ script }: Pick<CrashRun, 'script'>): number {
  const named = script.expected.filter(({ integrationAddress }) => integrationAddress !== null)
  return named.reduce((sum, { version }) => sum + version, 0)
}

let built: BuiltProcess
beforeAll(async () => {
  built = await buildCrashProcess()
})
afterAll(() => built?.remove())

// On PostgreSQL alone: a process that is frozen inside of a write holds the one lock of SQLite.
describeOnPostgres('PostgreSQL', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())

  test('a dispatcher that was frozen after a claim posts nothing of it once its lease has expired', async () => {
    const seedDatabase = createPostgresDatabase(postgres.connectionString, 'frozen_claim')
    const { posts } = await freezeAt('after claim', seedDatabase, built.path)
    expect(new Set(posts).size).toBe(posts.length)
  })

  test('the deliveries of a dispatcher frozen between a POST and its settling are taken over, and its late answer changes nothing', async () => {
    const seedDatabase = createPostgresDatabase(postgres.connectionString, 'frozen_post')
    const { posts, report } = await freezeAt('after post', seedDatabase, built.path)
    // The other one sent its deliveries again, and only those attempts are in the log.
    expect(posts.length).toBeGreaterThan(new Set(posts).size)
    expect(report.attempts).toBe(new Set(posts).size)
    expect(report.lostLeases).toBeGreaterThan(0)
  })
})
