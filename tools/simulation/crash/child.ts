/** Bundles, starts and ends the service processes of crash tests, and reads their reports. @module */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build, type Plugin } from 'esbuild'
import type { CrashConfig, CrashLine, Horizon } from './process-config.js'

/** How a process ended. */
export interface ChildExit {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  /** The end of its standard error. */
  readonly errorOutput: string
}

/** A running process. */
export interface CrashChild {
  readonly ended: Promise<ChildExit>
  /** Allows more of the script. */
  raise(horizon: Horizon): void
  signal(name: 'SIGKILL' | 'SIGCONT' | 'SIGTERM' | 'SIGUSR2'): void
}

/** Starts a process. @param path - The bundle. */
export function startCrashChild(path: string, config: CrashConfig, onLine: (line: CrashLine) => void): CrashChild {
  const child = spawn(process.execPath, [path, JSON.stringify(config)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] },
  })
  let errorOutput = ''
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as CrashLine))
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk.toString('utf8')}`.slice(-2_000)
  })
  // The process may exit before it reads its input.
  child.stdin.on('error', () => undefined)
  return {
    // `close` comes after the last line was read.
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, errorOutput }))),
    raise: (horizon) => void child.stdin.write(`${JSON.stringify(horizon)}\n`),
    signal: (name) => void child.kill(name),
  }
}

export interface BuiltProcess {
  readonly path: string
  remove(): Promise<void>
}

const root = join(import.meta.dirname, '../../..')

/** Builds `service-process.ts` from the sources of the workspace. */
export async function buildCrashProcess(): Promise<BuiltProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-crash-build-'))
  const path = join(folder, 'service.mjs')
  await build({
    entryPoints: [join(import.meta.dirname, 'service-process.ts')],
    outfile: path,
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    minifySyntax: true,
    conditions: ['@payment-integration/source'],
    absWorkingDir: root,
    // SQLite's native binding is a separate file.
    external: ['@photostructure/sqlite', 'pg-native'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
    plugins: [probesInBinding],
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Replaces the store's binding of SQLite by `probed-sqlite.ts`. */
const probesInBinding: Plugin = {
  name: 'probes in the binding',
  setup({ onResolve }) {
    const probed = join(import.meta.dirname, 'probed-sqlite.ts')
    onResolve({ filter: /[/]binding[.]js$/ }, ({ importer }) => (importer === probed ? undefined : { path: probed }))
  },
}
