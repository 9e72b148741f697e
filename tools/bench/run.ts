/**
 * Runs the benches and prints their tables as Markdown. Usage: npm run bench [-- name…] [-- --smoke]
 *
 * Without a name all of them run; a name that does not exist prints those that do. `--payments=N` sets the size of the
 * databases of the read API, the console and the upgrade, and `--keep=FOLDER` keeps them for the next run. `--record`
 * adds the run to tools/bench/results. `--smoke` shows on small data that everything runs; its figures mean nothing.
 * `--page` and `--model` measure nothing. `--page` makes the tables and pictures of docs/performance.md from the
 * recorded runs, `--model` prints the table of docs/scale.md.
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writePage } from '../scripts/performance-page.js'
import { benchBloat } from './bloat.js'
import { benchCells } from './cells/bench.js'
import { modelTable } from './cells/model.js'
import { benchConsole } from './console.js'
import type { Engine } from './databases.js'
import { benchSync } from './indexer/bench.js'
import { benchLive } from './indexer/live.js'
import { benchDeliveries } from './notifications/bench.js'
import { benchReadApi } from './read-api/bench.js'
import { formatReport, readVersions, recordRun, type Table } from './report.js'
import { benchStart } from './start.js'
import { benchUpdates } from './updates.js'
import { benchUpgrade } from './upgrade.js'
import { benchVerification } from './verification/bench.js'
import { benchWeight } from './weight.js'

const { values, positionals } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    payments: { type: 'string', default: '1000000' },
    keep: { type: 'string' },
  },
  allowPositionals: true,
})
const { smoke } = values
const payments = smoke ? 2_000 : parsePayments(values.payments)
const keep = resolve(values.keep ?? mkdtempSync(join(tmpdir(), 'bench-filled-')))
if (values.keep === undefined) {
  // PostgreSQL runs as another user than root.
  chmodSync(keep, 0o755)
  process.once('exit', () => rmSync(keep, { recursive: true, force: true }))
}
/** The effort of a full run, or with `--smoke` the small one. */
const pick = <Value>(full: Value, small: Value): Value => (smoke ? small : full)
const runOnBoth = async (run: (engine: Engine) => Promise<Table[]>) => [
  ...(await run('SQLite')),
  ...(await run('PostgreSQL')),
]

interface Bench {
  run(): Promise<Table[]>
  /** The folder of the peers, with their versions. */
  readonly peers?: string
}

const benches: Readonly<Record<string, Bench>> = {
  verification: {
    run: () =>
      benchVerification(
        pick({ rounds: 15, sliceUs: 10_000, seed: Date.now() % 1_000_000 }, { rounds: 1, sliceUs: 0, seed: 1 }),
      ),
    peers: 'verification/peers',
  },
  deliveries: {
    run: () =>
      runOnBoth((engine) =>
        benchDeliveries(
          engine,
          pick(
            { deliveries: 20_000, rounds: 5, warmUps: 5_000, paceSeconds: 5 },
            { deliveries: 100, rounds: 1, warmUps: 20, paceSeconds: 0.1 },
          ),
        ),
      ),
    peers: 'notifications/peers',
  },
  // 140,000 deliveries are ten minutes of 20 million payments a day: 230 a second.
  bloat: {
    run: () =>
      benchBloat(
        pick(
          { deliveriesPerSlice: 7_000, slicesAround: 3, slicesDuring: 20, maxSeconds: 30 },
          { deliveriesPerSlice: 120, slicesAround: 1, slicesDuring: 1, maxSeconds: 10 },
        ),
      ),
    peers: 'notifications/peers',
  },
  sync: {
    run: () =>
      benchSync(
        pick(
          {
            payments: 50_000,
            perBlock: 25,
            rounds: 3,
            nodes: [{ latencyMs: 0 }, { latencyMs: 20 }, { latencyMs: 100 }, { latencyMs: 100, raw: true }],
          },
          { payments: 50, perBlock: 25, rounds: 1, nodes: [{ latencyMs: 0, raw: true }] },
        ),
      ),
    peers: 'indexer/peers',
  },
  live: { run: () => benchLive(pick(200, 1)) },
  'read-api': {
    run: () =>
      runOnBoth((engine) =>
        benchReadApi(engine, {
          payments,
          keep,
          ...pick({ warmUps: 3_000, rounds: 25, seconds: 0.25 }, { warmUps: 16, rounds: 1, seconds: 0 }),
        }),
      ),
  },
  updates: { run: () => benchUpdates(pick({ payments: 3_000, turns: 5 }, { payments: 100, turns: 0 })) },
  console: { run: () => runOnBoth((engine) => benchConsole(engine, { payments, keep, rounds: pick(40, 1) })) },
  upgrade: { run: () => benchUpgrade({ payments, keep, idleMs: pick(60_000, 100) }) },
  start: { run: () => benchStart({ rounds: pick(11, 1) }) },
  weight: { run: benchWeight, peers: 'verification/peers' },
  cells: { run: () => benchCells(pick({ blocks: 600, perBlock: 20 }, { blocks: 20, perBlock: 12 })) },
}

if (values.page) {
  console.log(writePage().join('\n'))
  process.exit()
}
if (values.model) {
  console.log(modelTable())
  process.exit()
}
const unknown = positionals.find((name) => !Object.hasOwn(benches, name))
if (unknown !== undefined)
  fail(`There is no bench ${JSON.stringify(unknown)}; there are: ${Object.keys(benches).join(', ')}.`)
for (const [name, { run, peers = null }] of Object.entries(benches)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const load = Number(loadavg()[0]?.toFixed(1))
  const startedAt = performance.now()
  const tables = await run()
  for (const table of tables) console.log(formatReport(table))
  console.log(`${name}: ${((performance.now() - startedAt) / 1_000).toFixed(0)} s, load ${load} at its start.\n`)
  const size = payments === 1_000_000 ? '' : ` --payments=${payments}`
  const date = new Date().toISOString().slice(0, 10)
  if (values.record && !smoke)
    recordRun(name, { date, command: `npm run bench -- ${name}${size}`, load, versions: readVersions(peers), tables })
}

function parsePayments(text: string): number {
  if (/^[1-9][0-9]{3,7}$/.test(text)) return Number(text)
  return fail(`--payments is ${JSON.stringify(text)}; expected a whole number from 1000.`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
