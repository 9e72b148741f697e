/** What the commands that operate a service on its database share. @module */
import type { Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Config } from '@payment-integration/server/service'
import { InterruptedError } from '../errors.js'
import { isStoppedEarly } from '../internal/stopped-early.js'
import type { Io } from '../io.js'
import { logToStandardError } from '../output/log-to.js'
import { createReporter, type Reporter } from '../output/reporter.js'
import { type ConfigFlags, withFlags } from './config-flags.js'
import { findMissingDatabase } from './find-missing-database.js'

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
