/** `payment-integration serve`: runs the server until it is told to stop. @module */
import type { Command } from 'commander'
import { databaseOption, examples, type Finish, optionsOf } from '../command.js'
import { developmentTools } from '../development-tools.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, logToStandardError } from '../output.js'
import { wholeNumberParser } from '../parse.js'
import { aborted, isStoppedEarly } from '../process.js'
import { showProgress } from '../progress/show-progress.js'
import { simulateChainsWith } from '../simulate-chains.js'
import { type ConfigFlags, createdText, findMissingDatabase, withFlags } from '../with-service.js'

/** Adds the command. */
export function addServe(program: Command, io: Io, finish: Finish): void {
  program
    .command('serve')
    .description('run the server until Ctrl-C or SIGTERM; PI_… variables configure it')
    .option('--host <host>', 'address to listen on (PI_HOST, default 127.0.0.1)')
    .option(
      '--port <port>',
      'port to listen on; 0 picks a free port (PI_PORT, default 4747)',
      wholeNumberParser(0, 65_535),
    )
    .option(...databaseOption)
    .option('--role <roles>', 'roles of this process, such as api,dispatcher,indexer:137 (PI_ROLES, default all)')
    .addHelpText(
      'after',
      examples('serve', 'serve --role api,poller', 'serve --port 8080 --database sqlite:payments.db --json'),
    )
    .action(async (_options, command) => finish(await serve(optionsOf<ServeOptions>(command), io)))
}

/** Options of {@link serve}. */
interface ServeOptions extends Omit<ConfigFlags, 'roles'> {
  /** Roles of the process, separated by commas. @default PI_ROLES */
  readonly role?: string | undefined
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/**
 * Serves until `io.signal` aborts, then finishes requests and deliveries in flight and closes the database.
 * Shows the rate and the time left of chains that are behind their head.
 * @returns 0 after a clean shutdown, also during the start.
 * @throws ConfigError `ERR_CONFIG` with every problem; errors of a database or port that cannot be opened.
 */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const report = createReporter(io, options.json === true)
  const stopped = () => report({ event: 'stopped' }, () => ['Stopped.'])
  const started = await start(options, io).catch(async (error: unknown) => {
    if (await isStoppedEarly(io.signal)) return null
    throw error
  })
  if (started === null) {
    stopped()
    return 0
  }
  const { server, progress, createdPath, identity } = started
  if (createdPath !== null && options.json !== true) io.out(createdText(createdPath))
  const { url, adminUrl } = server
  const urls = { ...(url === '' ? {} : { url }), ...(adminUrl === null ? {} : { adminUrl }) }
  report({ event: 'listening', ...urls }, () => [
    url === '' ? 'Running: its roles serve no requests.' : `Listening on ${url}`,
    ...(adminUrl === null ? [] : [`Live, ready, health and metrics at ${adminUrl}`]),
    'Ctrl-C stops it.',
  ])
  await Promise.all([aborted(io.signal), progress.run(io.signal)])
  report({ event: 'stopping' }, () => [
    'Stopping: finishing requests and deliveries in flight. Ctrl-C again exits at once.',
  ])
  await server.stop()
  await identity?.close()
  stopped()
  return 0
}

async function start(options: ServeOptions, io: Io) {
  const { readConfig, startServer } = await import('@payment-integration/server/service')
  const flags = { ...options, roles: options.role }
  const given = readConfig(withFlags(io.env, flags))
  const identity = given.simulatedChains.length > 0 && given.identity === null ? await startIdentity(io) : null
  const config = identity === null ? given : readConfig(withFlags({ ...io.env, ...identity.variables }, flags))
  const createdPath = await findMissingDatabase(config.database, true)
  const logger = await logToStandardError(config, io)
  const progress = showProgress({ io, logger, mayUseTerminal: options.json !== true })
  const simulateChains = simulateChainsWith(io, identity?.trigger)
  const parts = { logger, onEvent: progress.onEvent, simulateChains, tools: developmentTools }
  const server = await startServer(config, { ...parts, ownsProcess: io.ownsProcess }).catch(async (error: unknown) => {
    await identity?.close()
    throw error
  })
  identity?.follow(server.url)
  return { server, progress, createdPath, identity }
}

/** A provider whose verdicts `trigger` can choose. */
async function startIdentity(io: Pick<Io, 'randomBytes'>) {
  const { startDemoIdentity } = await import('../dev/identity.js')
  return startDemoIdentity(() => Buffer.from(io.randomBytes(32)).toString('base64url'))
}
