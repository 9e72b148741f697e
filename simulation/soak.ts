/**
 * Runs seeds of chaos against real chains. Usage: npm run soak -- [--seed=N] [--seeds=COUNT] [--from=N] [--concurrency=N]
 * Exit code 0 when every seed is right, 1 when not, 2 when misused.
 * @module
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { chaosTable, describeChaos, isWrong, runChaos } from './chaos/run-chaos.js'

const defaultSeeds = 1_000

const { values } = asked()

function asked() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        from: { type: 'string' },
        concurrency: { type: 'string' },
      },
    })
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
}

function misused(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

function whole(name: keyof typeof values, otherwise: number): number {
  const text = values[name]
  if (text === undefined) return otherwise
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  return misused(`--${name} is ${JSON.stringify(text)}; pass a whole number.`)
}

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
