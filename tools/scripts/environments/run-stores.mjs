/** Runs the version store's conformance suite on SQLite drivers that the workspace cannot have. @module */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { runOrThrow } from './child.mjs'
import { currentNode, findRuntimes } from './runtimes.mjs'

/**
 * Runs the suite on `node:sqlite` where Node has it, on `bun:sqlite`, and on `better-sqlite3` as built from its source.
 * @param {object} context - See `run-runtimes.mjs`; `betterSqlite3` is the installed copy of
 * `tools/environments/better-sqlite3`.
 */
export async function runStores({ runtimes, integrator, betterSqlite3, results, inParallel }) {
  await cp(join(integrator, 'run-store.mjs'), join(betterSqlite3, 'run-store.mjs'))
  const available = findRuntimes(runtimes)
  const runs = [
    ...available
      // Node 20 has no `node:sqlite`. A missing Node has a name such as `node-20`.
      .filter(({ kind, name }) => kind === 'node' && !/^(Node |node-)20/.test(name))
      .map((runtime) => ({ runtime, driver: 'node:sqlite', folder: integrator })),
    ...available
      .filter(({ kind }) => kind === 'bun')
      .map((runtime) => ({ runtime, driver: 'bun:sqlite', folder: integrator })),
    { runtime: currentNode, driver: 'better-sqlite3', folder: betterSqlite3 },
  ]
  await inParallel(runs.map((one) => () => judge(one, results)))
}

async function judge({ runtime, driver, folder }, results) {
  if (runtime.missing) {
    results.add({ group: 'stores', row: driver, column: runtime.name, verdict: 'skipped', detail: runtime.missing })
    return
  }
  await results.check('stores', driver, runtime.name, async () => {
    const [command, args] = runtime.command('run-store.mjs')
    const files = join(folder, `store-${runtime.name.replaceAll(/\W/g, '-')}`)
    const output = await runOrThrow(command, [...args, driver, files], { cwd: folder, env: runtime.env, seconds: 120 })
    const { tests, failed } = JSON.parse(output.trim().split('\n').at(-1))
    if (failed.length > 0)
      throw new Error(`${failed.length} of ${tests} tests failed:\n${failed.slice(0, 3).join('\n')}`)
    if (tests === 0) throw new Error('The suite has no test.')
    return `${tests} tests`
  })
}
