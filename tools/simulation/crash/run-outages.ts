/** Runs seeds with PostgreSQL crashes and broken connections, under a server and two dispatchers. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { createDraws, type Draws } from '../random.js'
import { type CuttingProxy, openCuttingProxy } from './cutting-proxy.js'
import { createPostgresDatabase } from './database.js'
import { runInWorkers, withDatabase } from './run-crash.js'
import { type CrashReport, type CrashRun, recordUnexpectedExit, runSeed } from './run-seed.js'

/** Number of outages of a seed. */
export const outagesPerSeed = 10

/** Longest time until the processes deliver again after an outage, in milliseconds. */
const recoverMs = 1_200
/** Longest wait for a COMMIT to cut, in milliseconds. */
const commitMs = 400
/** Longest requested exit of a process, in milliseconds. */
const stopMs = 10_000

/** The seeds to run, one after the other, because an outage of the server hits every database on it. */
export interface OutageOptions {
  readonly from: number
  readonly count: number
  /** Number of outages of each seed. @default outagesPerSeed */
  readonly outages?: number | undefined
  readonly onReport?: ((report: CrashReport) => void) | undefined
}

/** Runs seeds on a separate server. */
export async function runOutages(options: OutageOptions): Promise<CrashReport[]> {
  const { from, count, outages = outagesPerSeed, onReport } = options
  const postgres = await startPostgres()
  const proxy = await openCuttingProxy(postgres.connectionString)
  try {
    return await runInWorkers({ from, count, concurrency: 1 }, (seed, { path }) => {
      const seedDatabase = createPostgresDatabase(postgres.connectionString, `outage_${seed}`, proxy.connectionString)
      return withDatabase(seedDatabase, async () => {
        const plan = { seed, engine: 'postgres', size: { blocks: 6 * outages, maxPerBlock: 4 } } as const
        const report = await runSeed(plan, seedDatabase, path, (run) =>
          breakDatabaseRepeatedly(run, outages, postgres, proxy),
        )
        onReport?.(report)
        return report
      })
    })
  } finally {
    await proxy.close()
    await postgres.remove()
  }
}

/** Runs three processes through outages of the database; all three must survive. */
async function breakDatabaseRepeatedly(
  run: CrashRun,
  outages: number,
  postgres: TestPostgres,
  proxy: CuttingProxy,
): Promise<void> {
  const draws = createDraws(run.plan.seed).fork('outages')
  const roles = [['server'], ['dispatcher'], ['dispatcher']] as const
  const children = roles.map((each) => run.start({ roles: each, horizon: run.horizon(0), death: null }))
  const commitsBefore = proxy.cutCommits
  let otherOutages = 0
  const countOutages = () => otherOutages + proxy.cutCommits - commitsBefore
  for (let turn = 1; countOutages() < outages && turn <= 3 * outages; turn += 1) {
    const horizon = run.horizon(Math.min(1, turn / outages))
    for (const child of children) child.raise(horizon)
    await waitForDelivery(run)
    await wait(draws.whole(20, 150))
    otherOutages += await breakDatabase(draws, postgres, proxy)
  }
  await wait(draws.whole(100, 500))
  await Promise.all(
    children.map(async (child) => {
      child.signal('SIGTERM')
      const kill = setTimeout(() => child.signal('SIGKILL'), stopMs)
      recordUnexpectedExit(run, await child.ended, 'it was only asked to exit, after outages of the database')
      clearTimeout(kill)
    }),
  )
  run.outages += countOutages()
}

/** Resolves after the next delivery, or after a time limit. So an outage hits working processes. */
async function waitForDelivery({ delivered }: CrashRun): Promise<void> {
  const before = delivered.size
  for (let waited = 0; delivered.size === before && waited < recoverMs; waited += 5) await wait(5)
}

/** Resolves the number of outages. The proxy itself counts cuts after a COMMIT, because they may come late. */
async function breakDatabase(draws: Draws, postgres: TestPostgres, proxy: CuttingProxy): Promise<number> {
  const kind = draws.fraction()
  if (kind < 0.4) {
    // SIGQUIT is what `pg_ctl restart -m immediate` sends: the server recovers from its log when it starts.
    await postgres.halt('SIGQUIT')
    await wait(draws.whole(0, 200))
    await postgres.start()
    return 1
  }
  if (kind < 0.6) return proxy.cut() > 0 ? 1 : 0
  const before = proxy.cutCommits
  proxy.cutAfterCommit()
  for (let waited = 0; proxy.cutCommits === before && waited < commitMs; waited += 5) await wait(5)
  return 0
}
