/** Runs many seeds of crashes concurrently. @module */
import { type BuiltProcess, buildCrashProcess } from './child.js'
import { createPostgresDatabase, createSqliteDatabase, type SeedDatabase } from './database.js'
import { points } from './probes.js'
import { drawPlan, runCrashSeed } from './run-deaths.js'
import type { CrashReport } from './run-seed.js'

/** The seeds to run. */
export interface CrashOptions {
  readonly from: number
  readonly count: number
  /** Concurrent seeds. */
  readonly concurrency: number
  /** Address of a PostgreSQL for every fifth seed; null: all are on SQLite. */
  readonly postgres: string | null
  /** Receives the report of each seed at its end. */
  readonly onReport?: ((report: CrashReport) => void) | undefined
}

/** Runs seeds. Rejects when the process cannot be built or a database cannot be opened. */
export async function runCrashes({
  from,
  count,
  concurrency,
  postgres,
  onReport,
}: CrashOptions): Promise<CrashReport[]> {
  return runInWorkers({ from, count, concurrency }, async (seed, { path }) => {
    const plan = drawPlan(seed, postgres !== null)
    const seedDatabase =
      plan.engine === 'postgres' && postgres !== null
        ? createPostgresDatabase(postgres, `crash_${seed}`)
        : await createSqliteDatabase()
    return withDatabase(seedDatabase, async () => {
      const report = await runCrashSeed(plan, seedDatabase, path)
      onReport?.(report)
      return report
    })
  })
}

/** Runs work on concurrent seeds, with the process built once. */
export async function runInWorkers<T>(
  { from, count, concurrency }: Pick<CrashOptions, 'from' | 'count' | 'concurrency'>,
  work: (seed: number, built: BuiltProcess) => Promise<T>,
): Promise<T[]> {
  const built = await buildCrashProcess()
  const results: T[] = []
  let next = from
  async function worker(): Promise<void> {
    while (next < from + count) {
      const seed = next
      next += 1
      results.push(await work(seed, built))
    }
  }
  try {
    const workers = await Promise.allSettled(Array.from({ length: concurrency }, worker))
    for (const each of workers) if (each.status === 'rejected') throw each.reason
  } finally {
    await built.remove()
  }
  return results
}

/** Runs work on a database and removes it. */
export async function withDatabase<T>(seedDatabase: SeedDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await seedDatabase.remove()
  }
}

/** Formats a seed's report, with the command that replays it. @param suite - Its name for `npm run soak`. */
export function describeCrash(suite: 'crash' | 'outage', report: CrashReport): string {
  const {
    seed,
    engine,
    flaws,
    freezes,
    outages,
    lostLeases,
    payments,
    posts,
    postsDuringFaults,
    attempts,
    replayed,
    blocks,
    seconds,
  } = report
  return [
    `seed ${seed}: ${flaws.length === 0 ? 'passed' : 'FAILED'} in ${seconds.toFixed(1)} s on ${engine}; ${payments} payments, ${posts} posts (${postsDuringFaults} before all faults ended), ` +
      `${attempts} attempts, ${countKills(report)} kills, ${freezes} freezes, ${outages} outages, ${lostLeases} late answers, ` +
      `${replayed} replayed, ${blocks} endpoints blocked`,
    ...flaws.slice(0, 8).map((flaw) => `  ${flaw}`),
    `  replay: npm run soak -- --suite=${suite} --seed=${seed}`,
  ].join('\n')
}

/** Number of a seed's killed processes. */
export function countKills({ kills }: CrashReport): number {
  return [...kills.values()].reduce((sum, count) => sum + count, 0)
}

/** The figures of many seeds as a Markdown table. */
export function buildCrashTable(reports: readonly CrashReport[]): string {
  const sum = (pick: (report: CrashReport) => number) => reports.reduce((total, report) => total + pick(report), 0)
  const flaws = (kind: string) => sum(({ flaws }) => flaws.filter((flaw) => flaw.startsWith(kind)).length)
  const rows: readonly (readonly [string, number])[] = [
    ['seeds', reports.length],
    ['payments', sum(({ payments }) => payments)],
    ['posts', sum(({ posts }) => posts)],
    ['posts before all faults ended', sum(({ postsDuringFaults }) => postsDuringFaults)],
    ['attempts logged', sum(({ attempts }) => attempts)],
    ['processes killed', sum(countKills)],
    ...([...points, 'outside'] as const).map(
      (point) => [`killed: ${point}`, sum(({ kills }) => kills.get(point) ?? 0)] as const,
    ),
    ['dispatchers frozen', sum(({ freezes }) => freezes)],
    ['cuts and restarts of the database', sum(({ outages }) => outages)],
    ['late answers discarded', sum(({ lostLeases }) => lostLeases)],
    ['deliveries replayed', sum(({ replayed }) => replayed)],
    ['endpoints blocked', sum(({ blocks }) => blocks)],
    ['**missing**', flaws('missing')],
    ['**wrong**', flaws('wrong')],
    ['**repeated**', flaws('repeated')],
  ]
  return [
    '| | |',
    '| --- | ---: |',
    ...rows
      .filter(([name, value]) => value > 0 || name.startsWith('**'))
      .map(([name, value]) => `| ${name} | ${value} |`),
  ].join('\n')
}
