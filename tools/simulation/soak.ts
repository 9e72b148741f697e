/**
 * Runs seeds. Usage: `npm run soak -- [--suite=world|crash|outage|feed|identity] [--seed=N] [--seeds=COUNT] [--from=N]
 * [--concurrency=N] [--store=quick|sqlite]`. `world` faults and forks a chain in virtual time, which is also `npm run
 * simulate`. `crash` kills processes, `outage` stops PostgreSQL, `feed` kills servers of a feed of blocks, `identity`
 * judges histories of shared verifications. Without `--suite` every suite runs, but `--seed` alone runs only `world`.
 * Exit code 0 when every seed passes, 1 when one fails, 2 for a wrong call.
 * @module
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { report, runHistory } from '../../packages/core/test/identity-oracle/history.js'
import { realSystem } from '../../packages/core/test/identity-oracle/real/real-system.js'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'
import { buildCrashTable, describeCrash, runCrashes } from './crash/run-crash.js'
import { runOutages } from './crash/run-outages.js'
import type { CrashReport } from './crash/run-seed.js'
import { describeFeed, runFeedSeed } from './feed/run-feed.js'
import { buildTable, describeSeed, runSeeds } from './run.js'

/** Each seed of `crash` and `outage` has ten kills or ten outages. */
const defaultSeeds = { world: 1_000, crash: 200, outage: 20, feed: 10, identity: 10_000 } as const

type Suite = keyof typeof defaultSeeds

const values = readOptions()
const isSingle = values.seed !== undefined
const print = (text: string) => process.stdout.write(`${text}\n`)

/** Each resolves true when every seed passes. */
const suites: Readonly<Record<Suite, () => Promise<boolean>>> = {
  async world() {
    const { store = 'quick' } = values
    if (store !== 'quick' && store !== 'sqlite') fail(`--store is ${JSON.stringify(store)}; pass quick or sqlite.`)
    const { from, count } = getSeeds('world')
    const printSeed = (each: Parameters<typeof describeSeed>[0]) => {
      if (isSingle || each.verdict.findings.length > 0) print(describeSeed(each))
    }
    const summary = await runSeeds({ from, count, store, onReport: printSeed })
    if (!isSingle) print(buildTable(summary))
    return summary.failed.length === 0
  },
  async crash() {
    const postgres = await startPostgres()
    try {
      const { connectionString } = postgres
      return printFailures(
        await runCrashes({ ...getSeeds('crash'), postgres: connectionString, onReport: printReport('crash') }),
      )
    } finally {
      await postgres.remove()
    }
  },
  async outage() {
    return printFailures(await runOutages({ ...getSeeds('outage'), onReport: printReport('outage') }))
  },
  async feed() {
    const { from, count } = getSeeds('feed')
    let hasPassed = true
    for (let seed = from; seed < from + count; seed += 1) {
      const feed = await runFeedSeed(seed)
      print(describeFeed(feed))
      hasPassed &&= feed.verdict.findings.length === 0
    }
    return hasPassed
  },
  /** One history after the other, because a history never waits. */
  async identity() {
    const { from, count } = getSeeds('identity')
    const failed: number[] = []
    const started = process.cpuUsage()
    for (let seed = from; seed < from + count; seed += 1) {
      const finding = await runHistory(seed, () => realSystem())
      if (finding === null) continue
      failed.push(seed)
      print(`${report(finding)}\nnpm run soak -- --suite=identity --seed=${seed}`)
    }
    const { user, system } = process.cpuUsage(started)
    const verdict = failed.length === 0 ? 'none breaks a rule' : `${failed.length} break a rule: ${failed.join(', ')}`
    print(`identity: ${count} histories, ${Math.round((user + system) / 1e6)} s CPU; ${verdict}`)
    return failed.length === 0
  },
}

const chosenSuite = values.suite ?? (isSingle ? 'world' : undefined)
if (chosenSuite !== undefined && !Object.hasOwn(suites, chosenSuite))
  fail(`--suite is ${JSON.stringify(chosenSuite)}; pass ${Object.keys(suites).join(', ')}.`)
let hasPassed = true
for (const [name, run] of Object.entries(suites))
  if (chosenSuite === undefined || chosenSuite === name) hasPassed = (await run()) && hasPassed
process.exitCode = hasPassed ? 0 : 1

function readOptions() {
  const text = { type: 'string' } as const
  const options = { suite: text, seed: text, seeds: text, from: text, concurrency: text, store: text }
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function getSeeds(suite: Suite) {
  const readWhole = (name: 'seed' | 'seeds' | 'from' | 'concurrency', fallback: number) => {
    const text = values[name]
    if (text === undefined) return fallback
    if (/^[0-9]{1,9}$/.test(text)) return Number(text)
    return fail(`--${name} is ${JSON.stringify(text)}; pass a whole number.`)
  }
  if (isSingle) return { from: readWhole('seed', 1), count: 1, concurrency: 1 }
  return {
    from: readWhole('from', 1),
    count: readWhole('seeds', defaultSeeds[suite]),
    concurrency: readWhole('concurrency', 2 * availableParallelism()),
  }
}

/** Prints the problem and exits. */
function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function printReport(suite: 'crash' | 'outage') {
  return (each: CrashReport) => {
    if (isSingle || each.flaws.length > 0) print(describeCrash(suite, each))
  }
}

function printFailures(reports: readonly CrashReport[]): boolean {
  print(buildCrashTable(reports))
  return reports.every(({ flaws }) => flaws.length === 0)
}
