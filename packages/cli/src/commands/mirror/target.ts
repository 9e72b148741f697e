/** Opens the database of a mirror. @module */
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findDatabaseUrlProblem } from '@payment-integration/contract/parse'
import type { MirrorDatabase } from '@payment-integration/mirror'
import { openSqlite } from '../../dev/open-sqlite.js'
import { MirrorDatabaseError, UsageError } from '../../errors.js'
import type { Io } from '../../io.js'
import { hasPassword } from '../../with-service.js'

/** An opened database. */
interface Target {
  readonly database: MirrorDatabase
  /** The absolute path of a SQLite file that did not exist, else null. */
  readonly createdPath: string | null
  close(): Promise<void>
}

/**
 * The URL of the database: the option, else the variable.
 * @throws UsageError `ERR_USAGE` when there is none, its form is unknown, or the argument holds a password.
 */
export function targetUrl(to: string | undefined, env: Io['env']): string {
  if (to !== undefined && hasPassword(to))
    throw new UsageError(
      '--to contains a password, and other users of this machine can see arguments. Set MIRROR_URL instead of --to. Change the password if others use this machine.',
    )
  const url = to ?? env['MIRROR_URL']
  if (!url) throw new UsageError('There is no database for the mirror; pass --to, or set MIRROR_URL.')
  // The value may hold a password, so the message does not repeat it.
  if (!/^(sqlite:(?!$)|postgres(ql)?:[/]{2})/.test(url))
    throw new UsageError('--to and MIRROR_URL must be sqlite:<path> or postgres://….')
  const problem = findDatabaseUrlProblem(url)
  if (problem !== null) throw new UsageError(`The URL of the database ${problem}`)
  return url
}

/**
 * Opens or creates the database.
 * @throws MirrorDatabaseError `ERR_MIRROR_DATABASE`. A PostgreSQL server is first reached by a statement.
 */
export async function openTarget(url: string): Promise<Target> {
  if (url.startsWith('sqlite:')) return openFile(resolve(url.slice('sqlite:'.length)))
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max: 4, connectionTimeoutMillis: 10_000 })
  // An idle connection that ends is replaced; without a listener, it would end the process.
  pool.on('error', () => {})
  return { database: pool, createdPath: null, close: () => pool.end() }
}

async function openFile(path: string): Promise<Target> {
  try {
    const isNew = !existsSync(path)
    // Readable by its owner only: it holds memos and merchant names.
    if (isNew) await (await open(path, 'a', 0o600)).close()
    const database = openSqlite(path)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return { database, createdPath: isNew ? path : null, close: async () => database.close() }
  } catch (error) {
    throw new MirrorDatabaseError(error)
  }
}
