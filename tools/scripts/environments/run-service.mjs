/** Runs the command from its tarballs: as a service for the clients, and to its end on each Node. @module */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runOrThrow, start } from './child.mjs'
import { checkConsole } from './run-console.mjs'
import { findRuntimes } from './runtimes.mjs'

/** Payments that the clients read. */
const payments = 3

const command = 'node_modules/@payment-integration/cli/bin/payment-integration.js'

/**
 * Starts the service with a few final payments.
 * @param {string} folder - The installed copy of `tools/environments/service`.
 * @returns {Promise<{ service: { url: string, integrationAddress: string, apiSecret: string, legacyApiKey: string },
 * stop: () => Promise<void> }>}
 */
export async function startService(folder) {
  const args = [command, 'dev', '--payments', String(payments), '--port', '0', '--json']
  const running = start(process.execPath, args, { cwd: folder, env: await makeTemporary(folder, 'dev'), seconds: 600 })
  try {
    const ready = JSON.parse(await running.line((line) => line.includes('"event":"ready"'), 60))
    await running.line((line) => line.includes('"payment.verified"') && line.includes(`"number":${payments},`), 60)
    return { service: ready, stop: running.stop }
  } catch (error) {
    await running.stop()
    throw error
  }
}

/**
 * Runs the command on each Node until two payments are final, delivered, verified and read back. Its store is
 * `node:sqlite` where Node has it, `@photostructure/sqlite` elsewhere. Then serves the console on each.
 */
export async function runService({ runtimes, service, results, inParallel }) {
  const nodes = findRuntimes(runtimes).filter(({ kind }) => kind === 'node')
  await inParallel(
    nodes.map((node) => async () => {
      const column = 'payment-integration dev'
      const consoleColumn = 'console of serve'
      if (node.missing) {
        for (const each of [column, consoleColumn])
          results.add({ group: 'service', row: node.name, column: each, verdict: 'skipped', detail: node.missing })
        return
      }
      await results.check('service', node.name, column, async () => {
        const [program, args] = node.command(command)
        const flags = ['dev', '--until-idle', '--payments', '2', '--port', '0', '--json']
        const env = await makeTemporary(service, node.name)
        const output = await runOrThrow(program, [...args, ...flags], { cwd: service, env, seconds: 90 })
        const { ok, verified, event } = JSON.parse(output.trim().split('\n').at(-1))
        if (event !== 'summary' || ok !== true || verified !== 2) throw new Error(`It ended with ${output.slice(-500)}`)
      })
      await results.check('service', node.name, consoleColumn, async () => {
        const [program, args] = node.command(command)
        await checkConsole(program, args, { cwd: service, env: await makeTemporary(service, `${node.name}-console`) })
      })
    }),
  )
}

/** A temporary folder inside the copy, so that nothing is left behind. */
async function makeTemporary(folder, name) {
  const temporary = join(folder, `temporary-${name.replaceAll(/\W/g, '-')}`)
  await mkdir(temporary, { recursive: true })
  return { TMPDIR: temporary, TEMP: temporary }
}
