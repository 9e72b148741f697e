/**
 * Runs seeds of the simulator. Usage: npm run simulate -- [--seed=N] [--seeds=COUNT] [--from=N] [--store=memory|sqlite]
 * One seed prints its report; several print a table. Exit code 0 when every seed passes, 1 when one fails, 2 for a
 * wrong call.
 *
 * @module
 */
import { misused, readOptions, wholeNumber } from './command-line.js'
import { describeSeed, runSeeds, tableOf } from './run.js'
import { simulateSeed } from './world/simulate-seed.js'

const defaultSeeds = 1_000

const values = readOptions(['seed', 'seeds', 'from', 'store'])
const whole = (name: keyof typeof values, otherwise: number) => wholeNumber(name, values[name], otherwise)
const out = (text: string) => process.stdout.write(`${text}\n`)

const { store = 'memory' } = values
if (store !== 'memory' && store !== 'sqlite') misused(`--store is ${JSON.stringify(store)}; pass memory or sqlite.`)
if (values.seed === undefined) {
  const summary = await runSeeds({
    from: whole('from', 1),
    count: whole('seeds', defaultSeeds),
    store,
    onFailure: (report) => out(describeSeed(report)),
  })
  out(tableOf(summary))
  process.exitCode = summary.failed.length === 0 ? 0 : 1
} else {
  const report = await simulateSeed(whole('seed', 1), store)
  out(describeSeed(report))
  process.exitCode = report.verdict.findings.length === 0 ? 0 : 1
}
