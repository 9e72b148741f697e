/**
 * Runs the benches and prints their tables as Markdown. Usage: npm run bench [-- name…] [-- --smoke]
 *
 * Without a name all of them run; a name that does not exist prints those that do.
 *
 * `--payments=N` fills the databases of the read API, the console, the upgrade and retention with so many payments.
 * `--keep=FOLDER` keeps those of the console and the upgrade there for the next run. `--smoke` shows on small data that
 * everything runs; its figures mean nothing. `cells --model` prints the table of docs/scale.md, and measures nothing.
 * `--plot` measures nothing: it draws the pictures of docs/performance.md from the figures of tools/bench/README.md.
 * @module
 */
import { resolve } from 'node:path'
import { benchBloat } from './bloat/bench.js'
import { benchBytes } from './bytes/bench.js'
import { benchCells } from './cells/bench.js'
import { modelTable } from './cells/model.js'
import { benchClient } from './client/bench.js'
import { benchPages as benchConsolePages } from './console/bench.js'
import { benchStreams } from './console/streams.js'
import { benchWrites } from './console/writes.js'
import { benchFailover } from './failover/bench.js'
import { benchFeed } from './feed/bench.js'
import { benchSync } from './indexer/bench.js'
import { benchLive } from './indexer/live.js'
import { table } from './measure.js'
import { benchDeliveries } from './notifications/bench.js'
import { benchProcesses } from './notifications/processes.js'
import { benchPages } from './pages.js'
import { writeCharts } from './plot/charts.js'
import { benchReadApi } from './read-api/bench.js'
import { postgresDatabase, sqliteDatabase } from './read-api/database.js'
import { benchRetention } from './retention/bench.js'
import { benchRoles } from './roles/bench.js'
import { benchSignature } from './signature.js'
import { benchStart } from './start/bench.js'
import { benchTwin } from './twin.js'
import { benchUnauthenticated } from './unauthenticated/bench.js'
import { benchUpdates } from './updates/bench.js'
import { benchUpgrade } from './upgrade/bench.js'
import { benchVerification } from './verification/bench.js'
import { benchVersionStore } from './version-store/bench.js'
import { benchWeight } from './weight/bench.js'

const smoke = process.argv.includes('--smoke')
const effort = smoke ? { rounds: 1, roundMs: 0, iterations: 5 } : { rounds: 7, roundMs: 300, iterations: 20 }
const clientEffort = smoke ? { pages: 3, warmUps: 1, reading: effort } : { pages: 1_500, warmUps: 150, reading: effort }
const readEffort = smoke
  ? { payments: 2_000, warmUps: 20, rounds: 1, seconds: 0.02, memoryRequests: 200, layerRequests: 50 }
  : {
      payments: sizeAsked() ?? 1_000_000,
      warmUps: 3_000,
      rounds: 25,
      seconds: 0.25,
      memoryRequests: 100_000,
      layerRequests: 20_000,
    }
const deliveryEffort = smoke
  ? {
      deliveries: 200,
      rounds: 1,
      warmUps: 50,
      paceSeconds: 0.2,
      memoryDeliveries: 200,
      smallBacklog: 200,
      doublings: 2,
    }
  : {
      deliveries: 20_000,
      rounds: 5,
      warmUps: 5_000,
      paceSeconds: 5,
      memoryDeliveries: 10_000,
      smallBacklog: 1_000,
      doublings: 10,
    }

const versionStoreEffort = smoke
  ? { turns: 1, turnMs: 20, connections: 8 }
  : { turns: 100, turnMs: 100, connections: 8 }

const consoleEffort = {
  payments: smoke ? 2_000 : (sizeAsked() ?? 1_000_000),
  rounds: smoke ? 1 : Number(process.env['ROUNDS'] ?? 200),
  keep: folderAsked(),
}

const upgradeEffort = {
  payments: consoleEffort.payments,
  idleMs: smoke ? 500 : 60_000,
  keep: consoleEffort.keep,
}

const writesEffort = smoke ? { payments: 2_000, rounds: 0, count: 120 } : { payments: 200_000, rounds: 9, count: 6_000 }
const streamsEffort = smoke
  ? { deliveries: 200, rounds: 0, pages: 2, countMs: 1_000 }
  : { deliveries: 60_000, rounds: 7, pages: 20, countMs: 10_000 }

// 140,000 deliveries are ten minutes of 20 million payments a day: 230 a second.
const bloatEffort = smoke
  ? { slice: 300, around: 1, open: 2, mostSeconds: 10 }
  : { slice: 7_000, around: 3, open: 20, mostSeconds: 30 }

const retentionEffort = smoke
  ? { payments: 2_000, days: 4, kept: 2, measured: 250 }
  : { payments: sizeAsked() ?? 2_000_000, days: 14, kept: 7, measured: 5_000 }

const dense = smoke
  ? { name: 'smoke', payments: 100, perBlock: 25, emptyBetween: 1 }
  : { name: '50,000 payments in 2,000 blocks', payments: 50_000, perBlock: 25, emptyBetween: 0 }
const sparse = smoke ? dense : { ...dense, name: '50,000 payments in 200,000 blocks', emptyBetween: 99 }
const raw = true
const lines = smoke
  ? [{ latencyMs: 0 }, { latencyMs: 0, raw }]
  : [
      { latencyMs: 0 },
      { latencyMs: 0, raw },
      { latencyMs: 20 },
      { latencyMs: 100 },
      { latencyMs: 100, raw },
      { latencyMs: 300 },
    ]
const sync = (plan: typeof dense) =>
  benchSync([sqliteDatabase, postgresDatabase], plan, { rounds: smoke ? 1 : 3, lines })

const benches: Readonly<Record<string, () => Promise<string>>> = {
  async signature() {
    const { rows } = await benchSignature(effort)
    return table('Signature', rows)
  },
  verification: () =>
    benchVerification(
      smoke
        ? { rounds: 1, sliceUs: 0, imports: 1, seed: 1 }
        : { rounds: 15, sliceUs: 10_000, imports: 11, seed: Date.now() % 1_000_000 },
    ),
  async pages() {
    const payments = smoke ? 2_000 : 200_000
    const { byIntegration, byWallet } = await benchPages(payments, effort)
    const size = payments.toLocaleString('en')
    return [
      table(`Page of 50 of one integration, ${size} payments, SQLite`, byIntegration),
      table(`Page of 50 of one wallet (either side), ${size} payments, SQLite`, byWallet),
    ].join('\n')
  },
  'read-api-sqlite': () => benchReadApi(sqliteDatabase, readEffort),
  'read-api-postgres': () => benchReadApi(postgresDatabase, readEffort),
  sync: () => sync(dense),
  'sync-sparse': () => sync(sparse),
  client: () => benchClient(clientEffort),
  live: () => benchLive(smoke ? 3 : 200),
  unauthenticated: () =>
    benchUnauthenticated(smoke ? { warmUps: 16, rounds: 1, seconds: 0 } : { warmUps: 3_000, rounds: 15, seconds: 0.1 }),
  'deliveries-sqlite': () => benchDeliveries(sqliteDatabase, deliveryEffort),
  'deliveries-postgres': () => benchDeliveries(postgresDatabase, deliveryEffort),
  'version-store': () => benchVersionStore(versionStoreEffort),
  twin: async () => table('A twin', await benchTwin(effort)),
  'console-sqlite': () => benchConsolePages('SQLite', consoleEffort),
  'console-postgres': () => benchConsolePages('PostgreSQL', consoleEffort),
  'console-writes': async () =>
    [await benchWrites('SQLite', writesEffort), await benchWrites('PostgreSQL', writesEffort)].join('\n'),
  updates: () => benchUpdates(smoke ? { payments: 200, turns: 0 } : { payments: 3_000, turns: 5 }),
  upgrade: () => benchUpgrade(upgradeEffort),
  bytes: () => benchBytes(smoke ? { payments: 200, wave: 100 } : { payments: 50_000, wave: 1_000 }),
  bloat: () => benchBloat(bloatEffort),
  retention: () => benchRetention(retentionEffort),
  roles: () => benchRoles(smoke ? { restarts: 1, kills: 1, clients: 2 } : { restarts: 20, kills: 10, clients: 8 }),
  failover: () => benchFailover(smoke ? { rounds: 1, between: 5 } : { rounds: 20, between: 50 }),
  feed: async () => {
    if (smoke) return benchFeed({ blocks: 200, live: 3, cells: [2], servers: 1 })
    const effort = { blocks: 20_000, live: 100, cells: [1, 5, 20] }
    return [await benchFeed({ ...effort, servers: 1 }), await benchFeed({ ...effort, servers: 3 })].join('\n')
  },
  weight: benchWeight,
  'deliveries-processes': () =>
    benchProcesses(
      postgresDatabase,
      smoke
        ? { delays: [5], processes: [1, 2], connections: 20, deliveries: 200, rounds: 1, paceSeconds: 0.2 }
        : {
            delays: [0, 50, 500],
            processes: [1, 2, 3],
            connections: 2_000,
            deliveries: 20_000,
            rounds: 5,
            paceSeconds: 5,
          },
    ),
  start: () => benchStart({ rounds: smoke ? 1 : 11 }),
  cells: async () =>
    process.argv.includes('--model')
      ? modelTable()
      : benchCells(smoke ? { blocks: 20, perBlock: 12 } : { blocks: 500, perBlock: 12 }),
  'console-streams': async () =>
    [await benchStreams(sqliteDatabase, streamsEffort), await benchStreams(postgresDatabase, streamsEffort)].join('\n'),
}

if (process.argv.includes('--plot')) {
  console.log((await writeCharts()).join('\n'))
  process.exit()
}

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = chosen.find((name) => !Object.hasOwn(benches, name))
if (unknown !== undefined) {
  console.error(`There is no bench ${JSON.stringify(unknown)}; there are: ${Object.keys(benches).join(', ')}.`)
  process.exit(2)
}
for (const [name, run] of Object.entries(benches))
  if (chosen.length === 0 || chosen.includes(name)) console.log(await run())

function sizeAsked(): number | undefined {
  const text = process.argv.find((argument) => argument.startsWith('--payments='))?.slice('--payments='.length)
  if (text === undefined) return undefined
  if (/^[1-9][0-9]{3,7}$/.test(text)) return Number(text)
  console.error(`--payments is ${JSON.stringify(text)}; expected a whole number from 1000.`)
  process.exit(2)
}

function folderAsked(): string | null {
  const folder = process.argv.find((argument) => argument.startsWith('--keep='))?.slice('--keep='.length)
  return folder === undefined || folder === '' ? null : resolve(folder)
}
