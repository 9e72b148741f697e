/** `payment-integration mirror`: keeps a full local copy of one integration's payments. @module */
import type { Client } from '@payment-integration/client'
import type { Mirror } from '@payment-integration/mirror'
import type { Command } from 'commander'
import { examples, type Finish, optionsOf } from '../../command.js'
import { InterruptedError, MirrorDatabaseError, UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { createReporter, type Reporter } from '../../output.js'
import { parseAddress, parseDuration } from '../../parse.js'
import { variableName } from '../../variables.js'
import { createdText } from '../../with-service.js'
import { parseServerUrl } from '../status/status.js'
import { type ListenAddress, parseListenAddress, serveEndpoint } from './endpoint.js'
import { createPrinter, type MirrorPrinter } from './printer.js'
import { openTarget, targetUrl } from './target.js'

/** Adds the command. */
export function addMirror(program: Command, io: Io, finish: Finish): void {
  program
    .command('mirror')
    .description('keep a full local copy of the payments of one integration until Ctrl-C')
    .option('--to <url>', 'database of the copy: sqlite:<path> or postgres://… (MIRROR_URL)')
    .requiredOption('--server <url>', 'base URL of the service', parseServerUrl)
    .requiredOption('--integration <address>', 'address of the integration', parseAddress)
    .option('--api-secret-env <name>', 'variable with the API secret (default API_SECRET)')
    .option(
      '--secret-env <name>',
      'variable with the webhook secret (default WEBHOOK_SIGNING_SECRET); repeat it during a rotation',
      (name: string, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option('--listen <address>', 'also receive webhooks, such as at 127.0.0.1:4748/webhook', parseListenAddress)
    .option('--once', 'compare and repair once, print the lag, and exit')
    .option('--every <duration>', 'time between two comparisons (default 60s)', parseDuration)
    .addHelpText(
      'after',
      examples(
        `mirror --to sqlite:payments.db --server https://payments.example --integration ${exampleAddress} --once`,
        `mirror --to postgres:///shop --server https://payments.example --integration ${exampleAddress} --listen 127.0.0.1:4748/webhook`,
      ),
    )
    .action(async (_options, command) => finish(await keepMirror(optionsOf<MirrorCommandOptions>(command), io)))
}

const exampleAddress = '0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1'

/** Options of {@link keepMirror}. No option takes a secret: other users can see arguments. */
interface MirrorCommandOptions {
  /** URL of the database, without a password. @default MIRROR_URL */
  readonly to?: string | undefined
  /** Base URL of the service. */
  readonly server: string
  /** Lowercased. */
  readonly integration: string
  /** @default 'API_SECRET' */
  readonly apiSecretEnv?: string | undefined
  /** @default ['WEBHOOK_SIGNING_SECRET'] */
  readonly secretEnv?: readonly string[] | undefined
  readonly listen?: ListenAddress | undefined
  readonly once?: boolean | undefined
  readonly every?: number | undefined
  readonly json?: boolean | undefined
}

/**
 * Creates the tables, compares and repairs, and prints the lag. Unless `once`, it goes on at intervals, receives
 * webhooks with `listen`, and ends when `io.signal` aborts.
 * @throws UsageError `ERR_USAGE`; MirrorDatabaseError `ERR_MIRROR_DATABASE`; InterruptedError `ERR_INTERRUPTED` with
 * `once`; errors of the client and the mirror.
 */
async function keepMirror(options: MirrorCommandOptions, io: Io): Promise<ExitCode> {
  const { once = false, listen, every, json = false } = options
  if (once && listen !== undefined) throw new UsageError('--once receives no webhooks; leave out --listen.')
  const url = targetUrl(options.to, io.env)
  const client = await clientOf(options, io.env)
  const secrets = listen === undefined ? undefined : secretsOf(options, io.env)
  const { createMirror } = await import('@payment-integration/mirror')
  const report = createReporter(io, json)
  const target = await openTarget(url)
  try {
    if (target.createdPath !== null && !json) io.out(createdText(target.createdPath))
    const printer = createPrinter(io, report, json, () => mirror.status())
    const mirror: Mirror = createMirror({
      database: target.database,
      client,
      integrationAddress: options.integration,
      secrets,
      now: io.now,
      sleep: io.sleep,
      onEvent: printer.print,
    })
    await mirror.migrate().catch((error: unknown) => {
      throw isOfMirror(error) ? error : new MirrorDatabaseError(error)
    })
    if (once) await runOnce(mirror, io.signal)
    else await runOn(mirror, { listen, every }, printer, report, io)
    await printer.done()
    if (!once) report({ event: 'stopped' }, () => ['Stopped.'])
    return 0
  } finally {
    io.live?.([])
    await target.close()
  }
}

async function runOnce(mirror: Mirror, signal: AbortSignal): Promise<void> {
  try {
    await mirror.reconcile({ signal })
  } catch (error) {
    if (!signal.aborted) throw error
    throw new InterruptedError('Interrupted; the next run goes on at the last page.', { cause: error })
  }
}

async function runOn(
  mirror: Mirror,
  { listen, every }: Pick<MirrorCommandOptions, 'listen' | 'every'>,
  printer: MirrorPrinter,
  report: Reporter,
  io: Io,
): Promise<void> {
  const endpoint =
    listen === undefined
      ? null
      : await serveEndpoint(listen, {
          receive: mirror.receive,
          onError: (error) => printer.failure('receive', error),
          onRefusal: ({ code, status }) =>
            report({ event: 'refused', code, status }, () => [`Refused a delivery: ${code} (${status}).`]),
        })
  if (endpoint !== null)
    report({ event: 'listening', url: endpoint.url }, ({ url }) => [`Receiving webhooks at ${url}. Ctrl-C stops it.`])
  try {
    await mirror.run({ everyMs: every, signal: io.signal })
  } finally {
    await endpoint?.close()
  }
}

async function clientOf(
  { server, integration, apiSecretEnv = 'API_SECRET' }: MirrorCommandOptions,
  env: Io['env'],
): Promise<Client> {
  const apiSecret = env[variableName(apiSecretEnv)]
  if (!apiSecret) throw new UsageError(`${apiSecretEnv} is not set; put the API secret of the integration into it.`)
  const { createClient } = await import('@payment-integration/client')
  try {
    return createClient({ baseUrl: server, integrationAddress: integration, apiSecret })
  } catch (error) {
    // A TypeError about an option; no message of the client repeats a secret.
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function secretsOf({ secretEnv = ['WEBHOOK_SIGNING_SECRET'] }: MirrorCommandOptions, env: Io['env']): string[] {
  return secretEnv.map((name) => {
    const secret = env[variableName(name)]
    if (!secret) throw new UsageError(`${name} is not set; put the webhook secret into it, or leave out --listen.`)
    return secret
  })
}

function isOfMirror(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_MIRROR')
}
