import { expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { buildCrashTable, countKills, describeCrash, runCrashes } from './run-crash.js'
import { deathsPerSeed } from './run-deaths.js'
import { runOutages } from './run-outages.js'
import type { CrashReport } from './run-seed.js'

/** Ten kills each, every fifth on PostgreSQL. The nightly workflow runs many more. */
const [from, count] = [1, 8]
/** Seeds with PostgreSQL outages, and the number of outages in each. */
const outages = { seeds: 2, each: 10 }
/** Concurrent seeds: half of a seed waits for leases. */
const concurrency = 3
const timeoutMs = 1_200_000

function getFailures(suite: 'crash' | 'outage', reports: readonly CrashReport[]): string {
  process.stdout.write(`${buildCrashTable(reports)}\n`)
  const failed = reports.filter(({ flaws }) => flaws.length > 0)
  return failed.map((report) => describeCrash(suite, report)).join('\n')
}
const sum = (reports: readonly CrashReport[], value: (report: CrashReport) => number) =>
  reports.reduce((total, report) => total + value(report), 0)

test(
  `after ${count * deathsPerSeed} kills nothing is lost, sent in two forms or given up; every receiver has the newest version`,
  async () => {
    const postgres = postgresMissing === null ? await startPostgres() : null
    onTestFinished(() => postgres?.remove())
    const reports = await runCrashes({ from, count, concurrency, postgres: postgres?.connectionString ?? null })
    expect(getFailures('crash', reports)).toBe('')
    // A run without events proves nothing. The number of POSTs depends on the machine.
    expect(sum(reports, countKills)).toBe(count * deathsPerSeed)
    const outside = sum(reports, ({ kills }) => kills.get('outside') ?? 0)
    expect(count * deathsPerSeed - outside).toBeGreaterThanOrEqual(Math.ceil(count * deathsPerSeed * 0.885))
    expect(sum(reports, ({ postsDuringFaults }) => postsDuringFaults)).toBeGreaterThan(count)
    expect(new Set(reports.flatMap(({ kills }) => [...kills.keys()])).size).toBeGreaterThan(11)
    // Whether a dispatcher freezes, an endpoint is blocked or a delivery is replayed in time depends on the machine.
    // freeze.slow.test.ts freezes one at each point, and the nightly soak prints what its 200 seeds met.
  },
  timeoutMs,
)

describeOnPostgres('after PostgreSQL crashed or lost its connections', () => {
  test(
    `${outages.seeds * outages.each} times under two dispatchers: nothing is lost, and no process exits`,
    async () => {
      const reports = await runOutages({ from: 1, count: outages.seeds, outages: outages.each })
      expect(getFailures('outage', reports)).toBe('')
      expect(sum(reports, (report) => report.outages)).toBeGreaterThanOrEqual(outages.seeds * outages.each)
      expect(sum(reports, ({ postsDuringFaults }) => postsDuringFaults)).toBeGreaterThan(outages.seeds)
    },
    timeoutMs,
  )
})
