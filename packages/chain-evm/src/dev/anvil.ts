/** Runs one anvil process, which ends with this process. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { DevChainError, testMnemonic } from './dev-chain.js'

interface AnvilSearch {
  readonly platform: NodeJS.Platform
  readonly arch: string
  readonly path: string
}

/**
 * Finds anvil: the npm package of this platform, else `anvil` on the PATH. Always the executable itself, because a
 * wrapper script would not forward signals.
 * @throws {@link DevChainError} `ERR_ANVIL_MISSING`.
 */
export function findAnvil(search: AnvilSearch): string {
  const packageName = getAnvilPackage(search)
  const executable = search.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const packaged = packageName === null ? undefined : findPackagedAnvil(packageName, executable)
  const binaryPath = packaged ?? findOnPath([executable], search)
  if (binaryPath !== undefined) return binaryPath
  throw new DevChainError(
    'ERR_ANVIL_MISSING',
    packageName === null
      ? 'The development chain needs anvil, which npm does not carry for this platform. Install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH.'
      : `The development chain needs anvil. Install it with "npm install ${packageName}", or install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH.`,
  )
}

function findOnPath(names: readonly string[], { path }: AnvilSearch): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

/** Checks the option `binary`: a path, or a name on the PATH. @throws {@link DevChainError} `ERR_ANVIL_MISSING`. */
function checkAnvil(binary: string, search: AnvilSearch): string {
  const names = search.platform === 'win32' ? [binary, `${binary}.exe`] : [binary]
  const binaryPath = /[\\/]/.test(binary) ? names.find(isExecutable) : findOnPath(names, search)
  if (binaryPath !== undefined) return binary
  throw new DevChainError(
    'ERR_ANVIL_MISSING',
    `The option "binary" is ${JSON.stringify(binary)}, which is not an executable file; pass the path of anvil, or leave it out.`,
  )
}

function getAnvilPackage({ platform, arch }: AnvilSearch): string | null {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[platform as string]
  const processor = { x64: 'amd64', arm64: 'arm64' }[arch]
  return system === undefined || processor === undefined ? null : `@foundry-rs/anvil-${system}-${processor}`
}

function findPackagedAnvil(packageName: string, executable: string): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`)
    const candidate = join(dirname(manifest), 'bin', executable)
    return isExecutable(candidate) ? candidate : undefined
  } catch {
    return undefined
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Options of {@link startAnvil}. */
export interface AnvilOptions {
  /** @default 31337 */
  readonly chainId?: number | undefined
  /** Port on 127.0.0.1. @default a free one */
  readonly port?: number | undefined
  /** Seconds between blocks; null mines a block for each transaction. @default null */
  readonly blockTimeSeconds?: number | null | undefined
  /**
   * Mnemonic of the funded accounts. Other users of the machine can see it, so use a public one.
   * @default the well-known test mnemonic of anvil and hardhat
   */
  readonly mnemonic?: string | undefined
  /** More arguments for anvil, such as `--no-mining`. @default none */
  readonly args?: readonly string[] | undefined
  /**
   * The executable: a path, or a name on the PATH.
   * @default the npm package of this platform, else `anvil` on the PATH
   */
  readonly binary?: string | undefined
  /** How long the start may take, in milliseconds. @default 20_000 */
  readonly startTimeoutMs?: number | undefined
  /** Stops anvil when it aborts, even during the start. @default none */
  readonly signal?: AbortSignal | undefined
  /** Called when anvil ends without `stop()` or an abort. @default nothing */
  readonly onExit?: ((error: DevChainError) => void) | undefined
}

/** A running development chain. */
export interface Anvil {
  /** `http://127.0.0.1:<port>`. */
  readonly rpcUrl: string
  readonly chainId: number
  /** Stops anvil and resolves when it has exited. Idempotent. */
  stop(): Promise<void>
}

/**
 * A shell script that runs anvil. It stops anvil when standard input closes, which happens even when this process is
 * killed, and deletes anvil's cache.
 */
const guard = [
  'cache=$1; shift',
  'exec 3<&0',
  '"$@" </dev/null & anvil=$!',
  '(cat <&3 >/dev/null; kill "$anvil") 2>/dev/null & watcher=$!',
  'wait "$anvil"; code=$?',
  'kill "$watcher" 2>/dev/null',
  'rm -rf "$cache"',
  'exit "$code"',
].join('\n')

const stopTimeoutMs = 5_000

/**
 * Starts anvil on 127.0.0.1 and resolves when it answers. It gets only PATH, HOME and the temporary folder from the
 * environment. On POSIX systems it ends when this process exits or is killed, and ignores Ctrl-C. On Windows it ends
 * with `stop()` and when this process exits regularly.
 * @throws DevChainError `ERR_ANVIL_MISSING` without anvil; `ERR_ANVIL_EXIT` when it does not start; the signal's reason
 * when it aborts first.
 * @throws {RangeError} When an option is out of range.
 * @example
 * import { startAnvil } from '@payment-integration/chain-evm/dev'
 * const { rpcUrl, chainId, stop } = await startAnvil({ blockTimeSeconds: 2 })
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31_337, startTimeoutMs = 20_000, signal, onExit } = options
  const args = buildArguments(options, chainId)
  signal?.throwIfAborted()
  const search = { platform: process.platform, arch: process.arch, path: process.env['PATH'] ?? '' }
  const binary = options.binary === undefined ? findAnvil(search) : checkAnvil(options.binary, search)
  const cache = mkdtempSync(join(tmpdir(), 'pi-anvil-'))
  const child = launch(binary, ['--cache-path', cache, ...args], cache)
  let isStopping = false
  const exited = new Promise<DevChainError>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const message = `anvil could not be started (${error.code}); check the executable and its permissions.`
      resolve(new DevChainError('ERR_ANVIL_EXIT', message))
    })
    child.once('exit', (code, exitSignal) => {
      child.stdin?.destroy()
      resolve(new DevChainError('ERR_ANVIL_EXIT', describeExit(binary, code, exitSignal)))
    })
  })
  const killAtExit = () => child.kill()
  process.once('exit', killAtExit)

  async function stop(): Promise<void> {
    isStopping = true
    signal?.removeEventListener('abort', stopQuietly)
    if (process.platform === 'win32') child.kill()
    else child.stdin?.destroy()
    const force = setTimeout(() => killForcibly(child), stopTimeoutMs)
    await exited
    clearTimeout(force)
    // The guard deletes the cache too, but Windows has no guard, and the guard may have been killed.
    rmSync(cache, { recursive: true, force: true })
    process.removeListener('exit', killAtExit)
  }
  function stopQuietly(): void {
    stop().catch(() => {})
  }

  signal?.addEventListener('abort', stopQuietly, { once: true })
  try {
    const port = await waitForPort(child, exited, startTimeoutMs, options.port)
    signal?.throwIfAborted()
    exited.then((error) => !isStopping && onExit?.(error)).catch(() => {})
    return { rpcUrl: `http://127.0.0.1:${port}`, chainId, stop }
  } catch (error) {
    await stop()
    // Ctrl-C may kill the child before it has a process group of its own, and reach this process later. The wait for
    // the abort gives the caller the abort's reason instead of a failure of anvil.
    if (signal && child.signalCode === 'SIGINT') await delay(stopTimeoutMs, undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
    throw error
  }
}

function buildArguments(options: AnvilOptions, chainId: number): string[] {
  const { port = 0, blockTimeSeconds = null, mnemonic = testMnemonic, args = [] } = options
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    throw new RangeError(`chainId is ${chainId}; pass a whole number of at least 1.`)
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`port is ${port}; pass a whole number from 0 (any free port) to 65535.`)
  if (blockTimeSeconds !== null && !(blockTimeSeconds > 0))
    throw new RangeError(`blockTimeSeconds is ${blockTimeSeconds}; pass a number above 0, or null.`)
  const blockTime = blockTimeSeconds === null ? [] : ['--block-time', String(blockTimeSeconds)]
  const fixed = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--mnemonic', mnemonic]
  return [...fixed, ...blockTime, ...args]
}

function launch(binary: string, args: readonly string[], cache: string): ChildProcess {
  const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore']
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    passedVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  return process.platform === 'win32'
    ? spawn(binary, args, { stdio, env, windowsHide: true })
    : spawn('/bin/sh', ['-c', guard, 'anvil-guard', cache, binary, ...args], { stdio, env, detached: true })
}

/** Other environment variables may hold secrets. */
const passedVariables =
  process.platform === 'win32' ? ['PATH', 'USERPROFILE', 'TEMP', 'TMP', 'SYSTEMROOT'] : ['PATH', 'HOME', 'TMPDIR']

/** A shell exits with 126 or 127 when it cannot run a program. */
function describeExit(binary: string, code: number | null, exitSignal: NodeJS.Signals | null): string {
  return code === 126 || code === 127
    ? `${JSON.stringify(binary)} could not be run (exit code ${code}); check that it is made for this system.`
    : `anvil ended by itself (${exitSignal ?? `exit code ${code}`}).`
}

/** Kills the child's process group, which includes anvil behind the guard. */
function killForcibly(child: ChildProcess): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already exited.
  }
}

/** Reads the port from anvil's output. The rest of the output is drained, since a full pipe would block anvil. */
async function waitForPort(child: ChildProcess, exited: Promise<DevChainError>, timeoutMs: number, requestedPort = 0) {
  const { stdout } = child
  // Too many open files: `spawn` failed before it made the pipes.
  if (!stdout) throw await exited
  const lines = createInterface({ input: stdout })
  const listening = new Promise<number>((resolve) => {
    lines.on('line', (line) => {
      const port = /^Listening on .*:(\d+)$/.exec(line)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
  })
  const timer = new AbortController()
  try {
    const outcome = await Promise.race([listening, exited, delay(timeoutMs, null, { signal: timer.signal })])
    if (typeof outcome === 'number') return outcome
    if (outcome === null) throw new DevChainError('ERR_ANVIL_EXIT', `anvil did not answer within ${timeoutMs} ms.`)
    const hint = requestedPort === 0 ? '.' : `; another process may use port ${requestedPort}.`
    throw new DevChainError('ERR_ANVIL_EXIT', `${outcome.message} It did not come up${hint}`)
  } finally {
    timer.abort()
    lines.close()
    stdout.resume()
  }
}
