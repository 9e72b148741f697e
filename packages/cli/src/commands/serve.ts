/** `payment-integration serve`: runs the server until it is told to stop. @module */
import type { Command } from 'commander'
import { examples, type Finish, optionsOf } from '../command.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, logToStandardError } from '../output.js'
import { wholeNumber } from '../parse.js'
import { aborted, isStoppedEarly } from '../process.js'
import { showProgress } from '../progress/show-progress.js'
import { type ConfigFlags, findMissingDatabase, withFlags } from '../with-service.js'

/** Adds the command. */
export function addServe(program: Command, io: Io, finish: Finish): void {
  program
    .command('serve')
    .description('run the server until Ctrl-C or SIGTERM; the configuration comes from PI_… variables')
    .option('--host <host>', 'address to listen on (PI_HOST, default 127.0.0.1)')
    .option('--port <port>', 'port to listen on, 0 for any (PI_PORT, default 4747)', wholeNumber(0, 65_535))
    .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
    .addHelpText('after', examples('serve', 'serve --port 8080 --database sqlite:payments.db --json'))
    .action(async (_options, command) => finish(await serve(optionsOf<ServeOptions>(command), io)))
}

/** Options of {@link serve}. */
export interface ServeOptions extends ConfigFlags {
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/**
 * Reads the configuration from the environment and serves until `io.signal` aborts; then requests and deliveries under way
 * are finished and the database is closed. A chain that is behind its head is shown with its rate and the time left.
 * @returns 0 after a clean stop, also of a start.
 * @throws ConfigError `ERR_CONFIG` with every problem; the errors of a database or port that cannot be opened.
 */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const report = createReporter(io, options.json === true)
  const stopped = () => report({ event: 'stopped' }, () => ['Stopped.'])
  const started = await start(options, io).catch(async (error: unknown) => {
    if (await isStoppedEarly(io.signal, error)) return null
    throw error
  })
  if (started === null) {
    stopped()
    return 0
  }
  const { server, progress, made } = started
  if (made !== null && options.json !== true) io.out(`Made a new database: ${made}`)
  const { url, metricsUrl } = server
  report({ event: 'listening', url, ...(metricsUrl === null ? {} : { metricsUrl }) }, () => [
    `Listening on ${url}`,
    ...(metricsUrl === null ? [] : [`Metrics at ${metricsUrl}`]),
    'Ctrl-C stops it.',
  ])
  await Promise.all([aborted(io.signal), progress.run(io.signal)])
  report({ event: 'stopping' }, () => ['Stopping: finishing what is under way. Ctrl-C again ends it at once.'])
  await server.stop()
  stopped()
  return 0
}

async function start(options: ServeOptions, io: Io) {
  const { readConfig, startServer } = await import('@payment-integration/server')
  const config = readConfig(withFlags(io.env, options))
  const made = await findMissingDatabase(config.database, true)
  const logger = await logToStandardError(config, io)
  const progress = showProgress({ io, logger, mayUseTerminal: options.json !== true })
  const server = await startServer(config, { logger, onEvent: progress.onEvent, ownsProcess: io.ownsProcess })
  return { server, progress, made }
}
