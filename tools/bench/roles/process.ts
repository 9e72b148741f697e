/** A `serve` process of the bench, started from the sources. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A running server. */
export interface ServerProcess {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  /** Resolves once it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Starts a process that listens on free ports. @throws Error When it ends before it listens. */
export async function startServe(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const node = [
    '--conditions=@payment-integration/source',
    '--import',
    'tsx',
    'packages/cli/src/bin.ts',
    'serve',
    '--json',
  ]
  const { PATH } = process.env
  const child = spawn(process.execPath, node, {
    cwd: root,
    env: { PATH, PI_PORT: '0', PI_ADMIN_PORT: '0', PI_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, adminUrl } = await listening(child)
  return {
    url,
    adminUrl,
    pid: child.pid ?? 0,
    async end(signal) {
      if (child.exitCode !== null) return
      const exit = once(child, 'exit')
      child.kill(signal)
      await exit
    },
  }
}

async function listening(child: ChildProcess): Promise<{ readonly url: string; readonly adminUrl: string }> {
  if (child.stdout === null) throw new Error('The process has no output.')
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { event: string; url: string; adminUrl: string }
    if (event.event === 'listening') {
      child.stdout.resume()
      return event
    }
  }
  throw new Error('The server ended before it listened.')
}
