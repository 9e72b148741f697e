/**
 * Runs seeds of the simulator. Usage: npm run simulate -- [--seed=N] [--seeds=COUNT] [--from=N] [--store=memory|sqlite]
 * One seed prints what happened in it; several print a table. Exit code 0 when every seed is right, 1 when not, 2 when misused.
 * @module
 */
import { parseArgs } from 'node:util'
import { describeSeed, runSeeds, tableOf } from './run.js'
import { simulateSeed } from './world/simulate-seed.js'

const defaultSeeds = 1_000

const { values } = asked()
const out = (text: string) => process.stdout.write(`${text}\n`)

function asked() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        from: { type: 'string' },
        store: { type: 'string', default: 'memory' },
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

function whole(text: string | undefined, name: string, otherwise: number): number {
  if (text === undefined) return otherwise
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  return misused(`--${name} is ${JSON.stringify(text)}; pass a whole number.`)
}

const { store } = values
if (store !== 'memory' && store !== 'sqlite') {
  process.stderr.write(`--store is ${JSON.stringify(store)}; pass memory or sqlite.\n`)
  process.exit(2)
}
if (values.seed === undefined) {
  const summary = await runSeeds({
    from: whole(values.from, 'from', 1),
    count: whole(values.seeds, 'seeds', defaultSeeds),
    store,
    onFailure: (report) => out(describeSeed(report)),
  })
  out(tableOf(summary))
  process.exitCode = summary.failed.length === 0 ? 0 : 1
} else {
  const report = await simulateSeed(whole(values.seed, 'seed', 1), store)
  out(describeSeed(report))
  process.exitCode = report.verdict.words.length === 0 ? 0 : 1
}
