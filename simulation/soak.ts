/**
 * Runs seeds of chaos against real chains. Usage: npm run soak -- [--seed=N] [--seeds=COUNT] [--from=N] [--concurrency=N]
 * Exit code 0 when every seed is right, 1 when not, 2 when misused.
 * @module
 */
import { availableParallelism } from 'node:os'
import { chaosTable, describeChaos, isWrong, runChaos } from './chaos/run-chaos.js'
import { readOptions, wholeNumber } from './command-line.js'

const defaultSeeds = 1_000

const values = readOptions(['seed', 'seeds', 'from', 'concurrency'])
const whole = (name: keyof typeof values, otherwise: number) => wholeNumber(name, values[name], otherwise)
const single = values.seed !== undefined
const summary = await runChaos({
  from: single ? whole('seed', 1) : whole('from', 1),
  count: single ? 1 : whole('seeds', defaultSeeds),
  concurrency: single ? 1 : whole('concurrency', 2 * availableParallelism()),
  onReport(report) {
    if (single || isWrong(report)) process.stdout.write(`${describeChaos(report)}\n`)
  },
})
process.stdout.write(`${chaosTable(summary)}\n`)
process.exitCode = summary.failed.length === 0 ? 0 : 1
