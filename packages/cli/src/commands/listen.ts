/** `payment-integration listen`: forwards deliveries of a remote server to a local receiver. @module */
import { addCommand, type Cli, type Options, parseDuration, parseReceiverUrl } from '../command.js'
import { type IntegratorOptions, readIntegrator, readSecret, withIntegrator } from '../input.js'
import type { Io } from '../io.js'
import { createReporter } from '../output.js'

interface ListenOptions extends IntegratorOptions, Options<'signingSecretEnv', string> {
  readonly forwardTo: string
  /** Milliseconds. */
  readonly since?: number
}

export function addListen(cli: Cli): void {
  const example = 'listen --server https://payments.example --forward-to http://localhost:3000/webhook'
  const exampleFile = 'listen --env-file .env.local --forward-to http://localhost:3000/webhook --since 1h'
  withIntegrator(addCommand(cli, 'listen', listen, example, exampleFile))
    .description('forward deliveries of a remote server to a receiver on this machine, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:3000/webhook', parseReceiverUrl)
    .option('--signing-secret-env <name>', 'variable with the signing secret, to check each signature')
    .option('--since <duration>', 'start with deliveries of the last 10m, 2h or 1d (default: now)', parseDuration)
}

/** Forwards until `io.signal` aborts, and prints a summary. */
async function listen(options: ListenOptions, io: Io): Promise<void> {
  const { signingSecretEnv, since } = options
  const { variables, ...target } = await readIntegrator(options, io)
  const plan = {
    ...target,
    forwardTo: new URL(options.forwardTo),
    signingSecret: signingSecretEnv === undefined ? null : readSecret(signingSecretEnv, variables),
    since: since === undefined ? null : io.now() - since,
  }
  const { runListen } = await import('../listen/session.js')
  await runListen(plan, createReporter(io, options.json), io)
}
