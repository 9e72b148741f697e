/**
 * Bundles the measured processes like a release, starts them and calls them. A loader that runs sources adds a cost to
 * each function, which would distort a comparison.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export type Bundles = Awaited<ReturnType<typeof bundle>>

/** Bundles scripts of this folder from the sources of the workspace. */
export async function bundle(scripts: readonly string[]) {
  // The measured processes import this module, too, and must not load the bundler.
  const { build } = await import('esbuild')
  const folder = await mkdtemp(join(tmpdir(), 'bench-build-'))
  const banner =
    "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
  await build({
    entryPoints: scripts.map((path) => join(import.meta.dirname, path)),
    entryNames: '[name]',
    outdir: join(folder, 'dist'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    conditions: ['@payment-integration/source'],
    absWorkingDir: root,
    external: ['@photostructure/sqlite', 'esbuild', 'pg-native'],
    banner: { js: banner },
    logLevel: 'error',
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  // The server reads its version from the manifest beside its folder.
  await copyFile(join(root, 'packages/server/package.json'), join(folder, 'package.json'))
  return {
    /** The path of a bundle, by its script's file name without the ending. */
    findPath: (name: string) => join(folder, 'dist', `${name}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The calls that a process answers, by name. */
export type Handlers = Readonly<Record<string, (input: never) => unknown>>

/** A running process; its calls take one value and return one. */
export interface Worker<Calls extends Handlers> {
  ask<Name extends keyof Calls & string>(
    name: Name,
    ...input: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>>
  stop(): Promise<void>
}

/** A call, or the answer with the same id. */
interface Message {
  readonly id: number
  readonly name?: string
  readonly value?: unknown
  readonly error?: string
}

/** Starts a bundle as a separate process. @param env - Variables besides those of this process. */
export function startWorker<Calls extends Handlers>(
  path: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Worker<Calls> {
  const child: ChildProcess = fork(path, args, {
    execArgv: [],
    env: { ...process.env, NODE_ENV: 'production', ...env },
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let lastId = 0
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      for (const { reject } of waiting.values()) reject(new Error(`${path} exited with ${signal ?? `code ${code}`}.`))
      resolve()
    })
  })
  child.on('message', ({ id, value, error }: Message) => {
    const asker = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asker?.resolve(value)
    else asker?.reject(new Error(`${path}: ${error}`))
  })
  return {
    ask(name, ...[value]) {
      lastId += 1
      const id = lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        child.send({ id, name, value } satisfies Message, (error) => {
          if (error !== null) reject(error)
        })
      })
    },
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

/** Answers the parent's calls until the parent disconnects; then calls `stop` and exits. */
export function answer<Calls extends Handlers>(handlers: Calls, stop: () => Promise<unknown> = async () => {}): void {
  process.on('message', ({ id, name = '', value }: Message) => {
    const respond = handlers[name] as ((input: unknown) => unknown) | undefined
    Promise.resolve()
      .then(() => respond?.(value))
      .then(
        (result) => process.send?.({ id, value: result } satisfies Message),
        (error: unknown) =>
          process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      )
  })
  process.once('disconnect', () => void stop().finally(() => process.exit(0)))
}

/** This machine's monotonic clock, which all processes share, in microseconds. */
export function readClockUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

/** Measures work: time in seconds, and CPU time of this process in microseconds. */
export async function measureTime(work: () => Promise<unknown>): Promise<{ seconds: number; cpuUs: number }> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - startedAt) / 1_000, cpuUs: user + system }
}
