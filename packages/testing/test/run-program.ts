/** Programs of the examples as processes, on the sources of this workspace. @module */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const flags = ['--conditions=@payment-integration/source', '--import', 'tsx']

/** Starts a program as `npm start` does, with these variables and the PATH; a hung one is killed after 5 minutes. */
export function startProgram(main: URL, variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const options = { env: { PATH: process.env['PATH'], ...variables }, timeout: 300_000 }
  const command = [...flags, fileURLToPath(main), ...args]
  return spawn(process.execPath, command, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Waits until a program ends. Resolves its exit code and everything that it printed. */
export async function whenEnded(child: ReturnType<typeof startProgram>) {
  const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: exitCode as number | null, out, err }
}
