/** Opens the configured database for a command, and closes it afterwards. @module */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseUrl } from '@payment-integration/contract/internal'
import { findDatabaseUrlProblem } from '@payment-integration/contract/internal-io'
import type { Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Config } from '@payment-integration/server/service'
import type { Options } from './command.js'
import { DatabaseMissingError, InterruptedError, UsageError } from './errors.js'
import type { ExitCode, Io } from './io.js'
import { createReporter, logToStandardError, type Reporter } from './output.js'

/** Options of every command that works on the database. */
export type OperateOptions = Options<'database' | 'actor', string> & Options<'json', boolean>

/** `mayCreate`: create a missing SQLite file, and report that. */
type WithServiceOptions = OperateOptions & Options<'mayCreate', boolean>

/**
 * Opens the configured database, runs `work`, and always closes the database. The server may run at the same time.
 * The audit log names `--actor`, else `PI_ACTOR`, else `cli:` and the user of this machine.
 * @returns The exit code that `work` returns, else 0.
 * @throws InterruptedError, ConfigError, DatabaseMissingError, StoreError.
 */
export async function withService(
  options: WithServiceOptions,
  io: Io,
  work: (service: Service, report: Reporter, config: Config, logger: Logger) => Promise<void> | Promise<ExitCode>,
): Promise<ExitCode> {
  const { openService, readConfig } = await import('@payment-integration/server/service')
  const config = readConfig(withFlags(io.env, options))
  const createdPath = await findMissingDatabase(config.database, options.mayCreate === true)
  const logger = await logToStandardError(config, io)
  const { service, close } = await openService(config, { logger, actor: `cli:${io.userName() ?? 'unknown'}` })
  try {
    if (io.signal.aborted) throw new InterruptedError('Interrupted; nothing was done.')
    const report = createReporter(io, options.json)
    if (createdPath !== null) report.note(createdText(createdPath))
    return (await work(service, report, config, logger)) ?? 0
  } catch (error) {
    if (error !== io.signal.reason) throw error
    throw new InterruptedError('Interrupted; run the command again.', { cause: error })
  } finally {
    io.live?.([])
    await close()
  }
}

/** One run of a command on the database. */
export interface Operation<Given extends OperateOptions = OperateOptions> {
  readonly report: Reporter
  readonly options: Given
  readonly config: Config
  readonly io: Io
}

const createOperate =
  (mayCreate: boolean) =>
  <Arguments extends unknown[], Given extends OperateOptions = OperateOptions>(
    work: (service: Service, run: Operation<Given>, ...parameters: Arguments) => Promise<void> | Promise<ExitCode>,
  ) =>
  (...all: unknown[]): Promise<ExitCode> => {
    const [options, io] = all.slice(-2) as [Given, Io]
    const parameters = all.slice(0, -2) as Arguments
    return withService({ ...options, mayCreate }, io, (service, report, config) =>
      work(service, { report, options, config, io }, ...parameters),
    )
  }

/** Makes the action of a command: `work` gets the service as from {@link withService}, and the command's arguments. */
export const operate = createOperate(false)
/** Like {@link operate}, but creates a missing SQLite file. */
export const operateOrCreate = createOperate(true)

export const createdText = (path: string) => `Created a new database: ${path}`

/** Options that override variables of the configuration. None takes a secret: other users can see arguments. */
export type ConfigFlags = Options<'database' | 'host' | 'roles' | 'actor', string> & Options<'port', number>

/** Returns the environment, with each option in place of the variable that it overrides. @throws UsageError */
export function withFlags(env: Io['env'], { database, host, port, roles, actor }: ConfigFlags) {
  if (database !== undefined && hasPassword(database))
    throw new UsageError(
      '--database contains a password, and other users of this machine can see arguments. Set PI_DATABASE_URL, or PI_DATABASE_URL_FILE to the path of a file with the URL. Change the password if others use this machine.',
    )
  // Variables such as the address of a standby belong to the configured database, and not to `--database`.
  const inherited = Object.entries(env).filter(([name]) => database === undefined || !name.startsWith('PI_DATABASE_'))
  const flags = {
    PI_DATABASE_URL: database,
    PI_HOST: host,
    PI_PORT: port?.toString(),
    PI_ROLES: roles,
    PI_ACTOR: actor,
  }
  return Object.fromEntries([...inherited, ...Object.entries(flags).filter(([, value]) => value !== undefined)])
}

/** Whether the URL holds a password, before the host or in the parameters, where a PostgreSQL driver looks for it. */
export function hasPassword(database: string): boolean {
  if (database.startsWith('sqlite:')) return false
  // A slash or a hash in a password changes how the URL is parsed, yet the password is visible.
  const url = findDatabaseUrlProblem(database) !== null ? null : parseUrl(database)
  if (url === null) return /^[^/]*[/]{2}([^@]*)@/.exec(database)?.[1]?.includes(':') === true
  return url.password !== '' || url.searchParams.has('password')
}

/**
 * Rejects a missing SQLite file unless the command may create it: a mistyped path would look like an empty database.
 * @returns The absolute path of a file that will be created, else null.
 */
export async function findMissingDatabase(database: Config['database'], mayCreate: boolean): Promise<string | null> {
  if (database.kind !== 'sqlite') return null
  const path = resolve(database.path)
  const statsOrCode = await stat(path).catch(({ code }: NodeJS.ErrnoException) => code)
  if (statsOrCode !== 'ENOENT' && statsOrCode !== 'ENOTDIR') return null
  if (!mayCreate) throw new DatabaseMissingError(path)
  return path
}
