/** Runs the command from its sources, bundled once a worker, in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { bundleScript } from '../../store-sql/test/support/bundle-script.js'
import { temporaryFolder } from './temporary-folder.js'

const packageFolder = join(import.meta.dirname, '..')

const command = await bundleScript(join(packageFolder, 'src', 'bin.ts'))
// The command reads its version from this file.
copyFileSync(join(packageFolder, 'package.json'), join(command.folder, 'package.json'))
// Vitest ends a worker with this signal, which runs no exit handlers.
process.once('SIGTERM', () => process.exit())
process.once('exit', () => command.remove())

/** Starts it with these variables and the PATH. The caller ends it. */
export function startProcess(args: readonly string[], env: Readonly<Record<string, string>>) {
  const options = { cwd: packageFolder, env: { PATH: process.env['PATH'], ...env } }
  const child = spawn(process.execPath, [command.path, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const output = createInterface({ input: child.stdout })
  output.on('line', (line) => lines.push(line))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  async function line(wanted: string): Promise<string> {
    for (;;) {
      const match = lines.find((each) => each.includes(wanted))
      if (match !== undefined) return match
      const ended = await Promise.race([once(output, 'line').then(() => false), exited.then(() => true)])
      if (ended) throw new Error(`ended without ${wanted}:\n${[...lines, ...errors].join('\n')}`)
    }
  }
  return { child, exited, line, lines, errors }
}

/** Starts it with a temporary folder of its own; it is killed when the test ends. */
export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  const started = startProcess(args, { TMPDIR: folder, PI_PORT: '0', ...env })
  onTestFinished(() => void started.child.kill('SIGKILL'))
  return { ...started, folder }
}

/** Runs it to its end; resolves its exit code, its events and its lines on standard error. */
export async function runToEnd(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { child, lines, errors } = startProcess([...args, '--json'], env)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, errors, events: lines.map((each) => JSON.parse(each) as Record<string, unknown>) }
}
