/** `payment-integration serve`: the server, until it is told to stop. @module */
import { aborted } from '../internal/aborted.js'
import type { ExitCode, Io } from '../io.js'
import { logToStandardError } from '../output/log-to.js'
import { createReporter } from '../output/reporter.js'
import { showProgress } from '../progress/show-progress.js'
import { type ConfigFlags, withFlags } from './config-flags.js'
import { prepareDatabase } from './prepare-database.js'

/** Options of {@link serve}. */
export interface ServeOptions extends ConfigFlags {
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/**
 * Reads the configuration from the environment and serves until `io.signal` aborts; then requests and deliveries under way
 * are finished and the database is closed. A chain that is behind its head is shown with its rate and the time left.
 * @returns 0 after a clean stop.
 * @throws ConfigError `ERR_CONFIG` with every problem; the errors of a database or port that cannot be opened.
 */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { readConfig, startServer } = await import('@payment-integration/server')
  const { json = false } = options
  const report = createReporter(io, json)
  const config = readConfig(withFlags(io.env, options))
  const made = await prepareDatabase(config.database, true)
  if (made !== null && !json) io.out(`Made a new database: ${made}`)
  const logger = await logToStandardError(config, io)
  const progress = showProgress({ io, logger, mayUseTerminal: !json })
  const server = await startServer(config, { logger, onEvent: progress.onEvent, ownsProcess: io.ownsProcess })
  report({ event: 'listening', url: server.url }, ({ url }) => [`Listening on ${url}`, 'Ctrl-C stops it.'])
  await Promise.all([aborted(io.signal), progress.run(io.signal)])
  report({ event: 'stopping' }, () => ['Stopping: finishing what is under way. Ctrl-C again ends it at once.'])
  await server.stop()
  report({ event: 'stopped' }, () => ['Stopped.'])
  return 0
}
