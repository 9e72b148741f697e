/**
 * Installs the packages from their tarballs, as users do, and runs them in every runtime, store, module format and
 * compiler that they promise. Needs `npm run build` first; `tools/environments/` lists the runtimes and packages that
 * it installs besides. Usage: node tools/scripts/environments.mjs [group ...]. Prints a table for each group; the last
 * line is `N passed, N failed, N skipped`. Exit code 0 when nothing failed and, with CI set, nothing was skipped.
 * @module
 */
import { rmSync } from 'node:fs'
import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from './environments/prepare.mjs'
import { createResults, formatCounts, formatTables } from './environments/results.mjs'
import { runConsumers } from './environments/run-consumers.mjs'
import { runReadmes } from './environments/run-readmes.mjs'
import { runRuntimes } from './environments/run-runtimes.mjs'
import { runService, startService } from './environments/run-service.mjs'
import { runStores } from './environments/run-stores.mjs'

const groups = ['runtimes', 'service', 'stores', 'consumers', 'readmes']
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !groups.includes(name))
if (unknown.length > 0) {
  console.error(`No group ${unknown.join(', ')}; there are ${groups.join(', ')}.`)
  process.exit(2)
}
const isChosen = (group) => chosen.length === 0 || chosen.includes(group)
const root = join(import.meta.dirname, '../..')
const temporary = await realpath(await mkdtemp(join(tmpdir(), 'environments-')))
const { results, ...collector } = createResults((line) => console.log(line))
// The folder takes about a gigabyte. It is removed even if a signal ends the run.
process.once('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }))
await runGroups()
for (const table of formatTables(results)) console.log(`\n${table}`)
console.log(`\n${formatCounts(results)}`)
const bad = results.filter(({ verdict }) => verdict === 'FAILED' || (verdict === 'skipped' && process.env['CI']))
process.exitCode = bad.length > 0 || results.length === 0 ? 1 : 0

/** Each group has separate installations; one that cannot be installed fails, and the others run on. */
async function runGroups() {
  const { packed, environment } = prepare(root, temporary)
  const context = { root, temporary, results: collector, inParallel }
  const guard = (group, run) => async () =>
    isChosen(group) &&
    run().catch((error) =>
      collector.add({ group, row: 'all', column: 'install', verdict: 'FAILED', detail: error.message }),
    )
  const runtimes = () => environment('runtimes')
  const integrator = () => environment('integrator')
  await inParallel([
    guard('stores', async () =>
      runStores({
        ...context,
        runtimes: await runtimes(),
        integrator: await integrator(),
        betterSqlite3: await environment('better-sqlite3'),
      }),
    ),
    async () => {
      await guard('consumers', async () =>
        runConsumers({ ...context, packed: await packed, runtimes: await runtimes(), integrator: await integrator() }),
      )()
      await guard('service', async () =>
        runService({ ...context, runtimes: await runtimes(), service: await environment('service') }),
      )()
    },
  ])
  const started = []
  const runBesideService = (group, run) =>
    guard(group, async () => {
      const folder = await environment('service')
      if (started.length === 0) started.push(await startService(folder))
      await run(folder, started[0].service)
    })()
  try {
    await runBesideService('readmes', (folder, service) => runReadmes({ ...context, folder, service }))
    await runBesideService('runtimes', async (_, service) =>
      runRuntimes({ ...context, service, runtimes: await runtimes(), integrator: await integrator() }),
    )
  } finally {
    await started[0]?.stop()
  }
}

/** Runs tasks two at a time. */
async function inParallel(tasks) {
  const waiting = [...tasks]
  const work = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task()
  }
  await Promise.all([work(), work()])
}
