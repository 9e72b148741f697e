/** `payment-integration listen`: forwards deliveries of a remote server to a local receiver. @module */
import { parseUrl } from '@payment-integration/contract'
import type { Command } from 'commander'
import { examples, type Finish, optionsOf, parseAddress, parseDuration, parseNotificationUrl } from '../command.js'
import { UsageError } from '../errors.js'
import { integratorNames, readIntegration, readIntegratorVariables, readSecretIn, readServerUrl } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, createStyle } from '../output.js'

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
  /** File with more variables. Those of the environment win. @default .env.local, where there is one */
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
    .option('--server <url>', `the server (${integratorNames.server})`, parseNotificationUrl)
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:3000/webhook', parseNotificationUrl)
    .option('--integration <address>', `the integration (${integratorNames.integration})`, parseAddress)
    .option('--api-secret-env <name>', `variable that has the API secret (default ${integratorNames.apiSecret})`)
    .option('--signing-secret-env <name>', 'variable that has the signing secret; each signature is then checked')
    .option('--env-file <path>', 'file with these variables (default .env.local)')
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
  const { apiSecretEnv = integratorNames.apiSecret, signingSecretEnv, since } = options
  const variables = await readIntegratorVariables(options.envFile, io)
  const plan = {
    server: readServerUrl(options.server, variables),
    forwardTo: readReceiver(options.forwardTo),
    integration: readIntegration(options.integration, variables),
    apiSecretEnv,
    apiSecret: readSecretIn(apiSecretEnv, variables),
    signingSecret: signingSecretEnv === undefined ? null : readSecretIn(signingSecretEnv, variables),
    since: since === undefined ? null : io.now() - since,
  }
  const style = createStyle(io.colour)
  const { listenText } = await import('../listen/session.js')
  const { runListen } = await import('../listen/session.js')
  const report = createReporter(io, options.json === true)
  const figures = await runListen(plan, (event) => report(event, (each) => listenText(each, style)), io)
  report({ event: 'summary' as const, ...figures }, (each) => listenText(each, style))
  return 0
}

/** The receiver. @throws UsageError `ERR_USAGE` when it is malformed or has a user. */
function readReceiver(text: string): URL {
  const url = parseUrl(text)
  if (url === null || url.username !== '' || url.password !== '')
    throw new UsageError('--forward-to must be a full URL without a user.')
  return url
}
