/** `payment-integration backup <file>`: copies a SQLite database while the server runs. @module */
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { databaseOption, examples, type Finish, optionsOf } from '../command.js'
import { openSqlite } from '../dev/open-sqlite.js'
import { BackupError, UsageError } from '../errors.js'
import { grouped } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter } from '../output.js'
import { syncPath } from '../sync-path.js'
import { findMissingDatabase, type OperateOptions, withFlags } from '../with-service.js'

/** How long the copy waits for a lock of the server, in milliseconds. */
const lockWaitMs = 60_000

/** Adds the command. */
export function addBackup(program: Command, io: Io, finish: Finish): void {
  program
    .command('backup')
    .description('copy a SQLite database while the server runs; for PostgreSQL see docs/backup.md')
    .argument('<file>', 'the new file; it must not exist')
    .option(...databaseOption)
    .addHelpText('after', examples('backup backups/payments-2026-01-31.db'))
    .action(async (file, _options, command) => finish(await backUp(file, optionsOf<OperateOptions>(command), io)))
}

/**
 * Writes the state of one moment into a new file, for its owner alone. The file has its name only once it is complete
 * and on the disk.
 * @throws UsageError `ERR_USAGE` for PostgreSQL and for a file that exists; DatabaseMissingError
 * `ERR_DATABASE_MISSING`; BackupError `ERR_BACKUP` when the copy cannot be written.
 */
async function backUp(file: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  const { readDatabaseConfig } = await import('@payment-integration/server/service')
  const database = readDatabaseConfig(withFlags(io.env, options))
  if (database.kind === 'postgres')
    throw new UsageError(
      'backup copies SQLite files alone. For PostgreSQL use pg_basebackup and an archive of its WAL.',
    )
  await findMissingDatabase(database, false)
  const target = resolve(file)
  const bytes = await writeCopy(resolve(database.path), target)
  createReporter(io, options.json === true)({ event: 'backup', file: target, bytes }, (event) => [
    `Copied ${grouped(event.bytes)} bytes to ${event.file}.`,
  ])
  return 0
}

async function writeCopy(source: string, target: string): Promise<number> {
  const partial = `${target}.partial`
  for (const path of [target, partial])
    if (await exists(path)) throw new UsageError(`${path} exists. Name another file, or remove it.`)
  try {
    await (await open(partial, 'wx', 0o600)).close()
    copyInto(source, partial)
    await syncPath(partial)
    const { size } = await stat(partial)
    await rename(partial, target)
    await syncPath(dirname(target))
    return size
  } catch (error) {
    await rm(partial, { force: true })
    throw new BackupError(target, error)
  }
}

/** One read transaction: the server goes on writing, and none of its later commits is in the copy. */
function copyInto(source: string, target: string): void {
  const database = openSqlite(source)
  try {
    database.exec(`pragma busy_timeout = ${lockWaitMs}`)
    database.prepare('vacuum into ?').run(target)
  } finally {
    database.close()
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
