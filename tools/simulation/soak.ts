/**
 * Runs seeds against real components. Usage: `npm run soak -- [--suite=chaos|crash|outage|feed|identity] [--seed=N]
 * [--seeds=COUNT] [--from=N] [--concurrency=N]`. `chaos` faults and forks real chains, `crash` kills processes,
 * `outage` stops PostgreSQL, `feed` kills servers of a feed of blocks, `identity` judges histories of shared
 * verifications. Without a suite all of them run; with `--seed` alone it is one of chaos. Exit code 0 when every seed
 * passes, 1 when one fails, 2 for a wrong call.
 * @module
 */
import { availableParallelism } from 'node:os'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'
import { chaosTable, describeChaos, isFailed, runChaos } from './chaos/run-chaos.js'
import { misused, readOptions, wholeNumber } from './command-line.js'
import { crashTable, describeCrash, runCrashes } from './crash/run-crash.js'
import { runOutages } from './crash/run-outages.js'
import type { CrashReport } from './crash/run-seed.js'
import { describeFeed, runFeedSeed } from './feed/run-feed.js'
import { runIdentity } from './identity/run-identity.js'

/** Each seed of `crash` and `outage` has ten kills or ten outages. */
const defaultSeeds = { chaos: 1_000, crash: 200, outage: 20, feed: 10, identity: 10_000 } as const

type Suite = keyof typeof defaultSeeds

const values = readOptions(['suite', 'seed', 'seeds', 'from', 'concurrency'])
const single = values.seed !== undefined
const out = (text: string) => process.stdout.write(`${text}\n`)

/** Each resolves true when every seed passes. */
const suites: Readonly<Record<Suite, () => Promise<boolean>>> = {
  async chaos() {
    const summary = await runChaos({
      ...seedsOf('chaos'),
      onReport(report) {
        if (single || isFailed(report)) out(describeChaos(report))
      },
    })
    out(chaosTable(summary))
    return summary.failed.length === 0
  },
  async crash() {
    const postgres = await startPostgres()
    try {
      const { connectionString } = postgres
      return printFailures(
        await runCrashes({ ...seedsOf('crash'), postgres: connectionString, onReport: printReport('crash') }),
      )
    } finally {
      await postgres.remove()
    }
  },
  async outage() {
    return printFailures(await runOutages({ ...seedsOf('outage'), onReport: printReport('outage') }))
  },
  async feed() {
    const { from, count } = seedsOf('feed')
    let hasPassed = true
    for (let seed = from; seed < from + count; seed += 1) {
      const report = await runFeedSeed(seed)
      out(describeFeed(report))
      hasPassed &&= report.verdict.findings.length === 0
    }
    return hasPassed
  },
  async identity() {
    const { hasPassed, table } = await runIdentity({ ...seedsOf('identity'), onFinding: out })
    out(table)
    return hasPassed
  },
}

const chosen = values.suite ?? (single ? 'chaos' : undefined)
if (chosen !== undefined && !Object.hasOwn(suites, chosen))
  misused(`--suite is ${JSON.stringify(chosen)}; pass ${Object.keys(suites).join(', ')}.`)
let hasPassed = true
for (const [name, run] of Object.entries(suites))
  if (chosen === undefined || chosen === name) hasPassed = (await run()) && hasPassed
process.exitCode = hasPassed ? 0 : 1

function seedsOf(suite: Suite) {
  const whole = (name: 'seed' | 'seeds' | 'from' | 'concurrency', otherwise: number) =>
    wholeNumber(name, values[name], otherwise)
  if (single) return { from: whole('seed', 1), count: 1, concurrency: 1 }
  return {
    from: whole('from', 1),
    count: whole('seeds', defaultSeeds[suite]),
    concurrency: whole('concurrency', 2 * availableParallelism()),
  }
}

function printReport(suite: 'crash' | 'outage') {
  return (report: CrashReport) => {
    if (single || report.flaws.length > 0) out(describeCrash(suite, report))
  }
}

function printFailures(reports: readonly CrashReport[]): boolean {
  out(crashTable(reports))
  return reports.every(({ flaws }) => flaws.length === 0)
}
