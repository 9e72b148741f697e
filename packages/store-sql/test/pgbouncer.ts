/** Debian's PgBouncer in transaction mode, in front of a test's PostgreSQL. Other packages use it too. @module */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveToServer, nobody, waitForLine } from './postgres.js'

/** Why there is none, or null. */
export const pgbouncerMissing: string | null = findMissing()

function findMissing(): string | null {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'pipe' })
    return null
  } catch {
    return 'pgbouncer is missing: apt-get install -y --no-install-recommends pgbouncer'
  }
}

/** A pooler that a test owns. */
export interface TestPooler {
  /** The address of the database through the pooler, over a Unix socket. */
  readonly connectionString: string
  /** Lets it connect to another server for the same database, as an operator's `RELOAD` does. */
  moveTo(connectionString: string): void
  stop(): Promise<void>
}

/** How it is started. */
export interface TestPoolerOptions {
  /** Connections to the server, for all clients together. @default 4 */
  readonly poolSize?: number
  /** Startup parameters that it drops. @default none: it rejects those that it does not know */
  readonly ignored?: readonly string[]
}

const port = 6_432

/** Starts one in front of a database. */
export async function startPgBouncer(
  database: string,
  { poolSize = 4, ignored = [] }: TestPoolerOptions = {},
): Promise<TestPooler> {
  const folder = mkdtempSync(join(tmpdir(), 'pi-pooler-'))
  chmodSync(folder, 0o755)
  giveToServer(folder)
  const file = join(folder, 'pgbouncer.ini')
  const configure = (connectionString: string) => {
    const { pathname, searchParams, port: serverPort } = new URL(connectionString)
    const host = searchParams.get('host') ?? '127.0.0.1'
    const lines = [
      '[databases]',
      `* = host=${host} port=${serverPort || '5432'} dbname=${pathname.slice(1)} user=postgres`,
      '[pgbouncer]',
      `unix_socket_dir = ${folder}`,
      `listen_port = ${port}`,
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 500',
      'server_login_retry = 1',
      ...(ignored.length === 0 ? [] : [`ignore_startup_parameters = ${ignored.join(', ')}`]),
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
  }
  configure(database)
  const child = spawn('pgbouncer', [file], { ...nobody, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const abandon = () => child.kill('SIGKILL')
  process.once('exit', abandon)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await waitForLine(child, 'PgBouncer', /process up/)
  const { pathname } = new URL(database)
  return {
    connectionString: `postgres://postgres@localhost:${port}${pathname}?host=${encodeURIComponent(folder)}`,
    moveTo(connectionString) {
      configure(connectionString)
      child.kill('SIGHUP')
    },
    async stop() {
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGKILL'), 5_000).unref()
      await ended
      process.off('exit', abandon)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
