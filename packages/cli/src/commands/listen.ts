/** `payment-integration listen`: forwards deliveries of a remote server to a local receiver. @module */
import { parseUrl } from '@payment-integration/contract'
import type { Command } from 'commander'
import { examples, type Finish, optionsOf } from '../command.js'
import { UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, createStyle } from '../output.js'
import { parseAddress, parseDuration, parseNotificationUrl } from '../parse.js'
import { readEnvFile, variableName } from '../variables.js'

/** Variables of an integrator, as in the examples. */
const defaults = { server: 'PAYMENTS_URL', integration: 'INTEGRATION_ADDRESS', apiSecretEnv: 'API_SECRET' } as const

/** Options of {@link listen}. */
export interface ListenOptions {
  /** Base URL of the server. @default PAYMENTS_URL */
  readonly server?: string | undefined
  readonly forwardTo: string
  /** @default INTEGRATION_ADDRESS */
  readonly integration?: string | undefined
  /** Variable that has the API secret: a secret on the command line is visible to other users. @default 'API_SECRET' */
  readonly apiSecretEnv?: string | undefined
  /** Variable that has the signing secret. @default signatures are not checked */
  readonly signingSecretEnv?: string | undefined
  /** File with more variables. Those of the environment win. @default none */
  readonly envFile?: string | undefined
  /** Begins with deliveries of the last so many milliseconds. @default now */
  readonly since?: number | undefined
  readonly json?: boolean | undefined
}

/** Adds the command. */
export function addListen(program: Command, io: Io, finish: Finish): void {
  program
    .command('listen')
    .description('forward deliveries of a remote server to a receiver on this machine, until Ctrl-C')
    .option('--server <url>', `the server (${defaults.server})`, parseNotificationUrl)
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:3000/webhook', parseNotificationUrl)
    .option('--integration <address>', `the integration (${defaults.integration})`, parseAddress)
    .option('--api-secret-env <name>', `variable that has the API secret (default ${defaults.apiSecretEnv})`)
    .option('--signing-secret-env <name>', 'variable that has the signing secret; each signature is then checked')
    .option('--env-file <path>', 'file with these variables, such as .env.local')
    .option('--since <duration>', 'begin with deliveries of the last 10m, 2h or 1d (default: now)', parseDuration)
    .addHelpText(
      'after',
      examples(
        'listen --server https://payments.example --forward-to http://localhost:3000/webhook',
        'listen --env-file .env.local --forward-to http://localhost:3000/webhook --since 1h',
      ),
    )
    .action(async (_options, command) => finish(await listen(optionsOf<ListenOptions>(command), io)))
}

/**
 * Forwards until `io.signal` aborts, and prints a summary.
 * @returns 0 after the signal.
 * @throws UsageError `ERR_USAGE` for missing or contradicting options; ServerError `ERR_SERVER` when the server rejects
 * the credentials or offers no stream.
 */
export async function listen(options: ListenOptions, io: Io): Promise<ExitCode> {
  const { apiSecretEnv = defaults.apiSecretEnv, signingSecretEnv, since } = options
  const variables = await variablesOf(options.envFile, io)
  const { server, forwardTo, integration } = targetOf(options, variables)
  const secretIn = (name: string): string => {
    const value = variables[variableName(name)]
    if (!value) throw new UsageError(`${name} is not set; put the secret into it.`)
    return value
  }
  const plan = {
    ...{ server, forwardTo, integration, apiSecretEnv },
    apiSecret: secretIn(apiSecretEnv),
    signingSecret: signingSecretEnv === undefined ? null : secretIn(signingSecretEnv),
    since: since === undefined ? null : io.now() - since,
  }
  const style = createStyle(io.colour)
  const { listenText } = await import('../listen/listen-events.js')
  const { runListen } = await import('../listen/session.js')
  const report = createReporter(io, options.json === true)
  const figures = await runListen(plan, (event) => report(event, (each) => listenText(each, style)), io)
  report({ event: 'summary' as const, ...figures }, (each) => listenText(each, style))
  return 0
}

async function variablesOf(envFile: string | undefined, { env }: Pick<Io, 'env'>): Promise<Io['env']> {
  return envFile === undefined ? env : { ...(await readEnvFile(envFile, '--env-file')), ...env }
}

function targetOf(options: ListenOptions, variables: Io['env']) {
  const server = parseUrl(options.server ?? variables[defaults.server] ?? '')
  if (server === null) throw new UsageError(`The server is unknown; pass --server or set ${defaults.server}.`)
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(server.hostname)
  if (server.protocol !== 'https:' && !(server.protocol === 'http:' && isLoopback))
    throw new UsageError(
      '--server must be https: its credentials would be readable on the way. http: only to this machine.',
    )
  if (server.username !== '' || server.password !== '' || server.search !== '' || server.hash !== '')
    throw new UsageError('--server must have no user, query or fragment.')
  const forwardTo = parseUrl(options.forwardTo)
  if (forwardTo === null || forwardTo.username !== '' || forwardTo.password !== '')
    throw new UsageError('--forward-to must be a full URL without a user.')
  const integration = (options.integration ?? variables[defaults.integration] ?? '').toLowerCase()
  if (!/^0x[0-9a-f]{40}$/.test(integration))
    throw new UsageError(`The integration is unknown; pass --integration or set ${defaults.integration}.`)
  return { server, forwardTo, integration }
}
