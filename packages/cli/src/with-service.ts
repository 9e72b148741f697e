/** Opens the configured database for a command, and closes it afterwards. @module */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Logger, Service } from '@payment-integration/core'
import type { Config } from '@payment-integration/server'
import { DatabaseMissingError, InterruptedError, UsageError } from './errors.js'
import type { Io } from './io.js'
import { createReporter, logToStandardError, type Reporter } from './output.js'
import { isStoppedEarly } from './process.js'

/** Options of every such command. */
export interface OperateOptions extends Pick<ConfigFlags, 'database' | 'actor'> {
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/** Options of {@link withService}. */
export interface WithServiceOptions extends OperateOptions {
  /** Make a SQLite file that is missing; the text output says so then. @default false */
  readonly mayCreate?: boolean | undefined
}

/** What commands work on. */
type Operated = Pick<
  Service,
  'integrations' | 'accounts' | 'legacyKeys' | 'deliveries' | 'identity' | 'audit' | 'store'
>

/**
 * Opens the database that the configuration names, runs `work`, and closes it again in any case. The server may be running
 * meanwhile: it reads the same database. The audit log names `--actor`, else `PI_ACTOR`, else `cli:` and the user of this machine.
 * @throws InterruptedError `ERR_INTERRUPTED` when it was told to stop and could not open; ConfigError `ERR_CONFIG`;
 * DatabaseMissingError `ERR_DATABASE_MISSING`; StoreError `ERR_STORE_UNAVAILABLE` and its kin; what `work` throws.
 */
export async function withService(
  options: WithServiceOptions,
  io: Io,
  work: (service: Operated, report: Reporter, config: Config, logger: Logger) => Promise<void>,
): Promise<0> {
  const { json = false } = options
  const { opened, config, logger, made } = await open(options, io).catch(async (error: unknown) => {
    if (await isStoppedEarly(io.signal, error))
      throw new InterruptedError('Interrupted; nothing was done.', { cause: error })
    throw error
  })
  const { service, close } = opened
  try {
    if (made !== null && !json) io.out(`Made a new database: ${made}`)
    await work(service, createReporter(io, json), config, logger)
  } finally {
    await close()
  }
  return 0
}

async function open(options: WithServiceOptions, io: Io) {
  const { openService, readConfig } = await import('@payment-integration/server/service')
  const config = readConfig(withFlags(io.env, options))
  const made = await findMissingDatabase(config.database, options.mayCreate === true)
  const logger = await logToStandardError(config, io)
  const opened = await openService(config, { logger, actor: `cli:${io.userName() ?? 'unknown'}` })
  return { opened, config, logger, made }
}

/** Flags beat the environment, which beats the defaults. No flag takes a secret: other users can see arguments. */
export interface ConfigFlags {
  /** Instead of `PI_DATABASE_URL` and `PI_DATABASE_URL_FILE`. Without a password. */
  readonly database?: string | undefined
  /** Instead of `PI_HOST`. */
  readonly host?: string | undefined
  /** Instead of `PI_PORT`. */
  readonly port?: number | undefined
  /** Instead of `PI_ACTOR`. */
  readonly actor?: string | undefined
}

/**
 * The environment with the flags laid over it.
 * @throws UsageError `ERR_USAGE` when the database URL holds a password.
 */
export function withFlags(
  env: Io['env'],
  { database, host, port, actor }: ConfigFlags,
): Record<string, string | undefined> {
  if (database !== undefined && holdsPassword(database))
    throw new UsageError(
      '--database holds a password, and other users of this machine can see arguments; set PI_DATABASE_URL instead, or PI_DATABASE_URL_FILE to the path of a file that holds the URL. Change the password if others use this machine.',
    )
  return {
    ...env,
    ...(database === undefined ? {} : { PI_DATABASE_URL: database, PI_DATABASE_URL_FILE: undefined }),
    ...(host === undefined ? {} : { PI_HOST: host }),
    ...(port === undefined ? {} : { PI_PORT: String(port) }),
    ...(actor === undefined ? {} : { PI_ACTOR: actor }),
  }
}

/** Looks where a driver of Postgres would: before the host, and among the parameters. */
function holdsPassword(database: string): boolean {
  if (database.startsWith('sqlite:')) return false
  // A password with a slash or a hash in it makes the URL unreadable, and is one all the same.
  if (!URL.canParse(database)) return /^[^/]*[/]{2}([^@]*)@/.exec(database)?.[1]?.includes(':') === true
  const { password, searchParams } = new URL(database)
  return password !== '' || searchParams.has('password')
}

/**
 * Looks for the file of an SQLite database. The store makes a missing one, so a command that only reads refuses it: a
 * mistyped path would show an empty database. Anything else that is wrong with the path is reported when the store
 * opens it.
 * @returns The whole path of a missing file that the command may create, else null.
 * @throws DatabaseMissingError `ERR_DATABASE_MISSING`.
 */
export async function findMissingDatabase(database: Config['database'], mayCreate: boolean): Promise<string | null> {
  if (database.kind !== 'sqlite') return null
  const path = resolve(database.path)
  try {
    await stat(path)
    return null
  } catch (error) {
    if (!isMissing(error)) return null
  }
  if (!mayCreate) throw new DatabaseMissingError(path)
  return path
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
}
