/** `payment-integration trigger`: causes payments, changes and verdicts in a server in development. @module */
import { type TriggerScenario, triggerPath, triggerScenarios, triggerVerdicts } from '@payment-integration/contract'
import type { TriggerRequest } from '@payment-integration/testing/twin'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { examples, type Finish, optionsOf } from '../../command.js'
import { UsageError } from '../../errors.js'
import {
  basicAuthorization,
  integratorNames,
  readIntegration,
  readIntegratorVariables,
  readSecretIn,
  readServerUrl,
  serverPath,
} from '../../integrator.js'
import type { ExitCode, Io } from '../../io.js'
import { createReporter, createStyle } from '../../output.js'
import { parseAddress, parseChainId, parseNotificationUrl, wholeNumberParser } from '../../parse.js'
import { postTrigger } from './post-trigger.js'
import { triggerText } from './text.js'

/** Options of {@link trigger}. */
export interface TriggerOptions {
  /** Base URL of the server. @default PAYMENTS_URL */
  readonly server?: string | undefined
  /** @default INTEGRATION_ADDRESS */
  readonly integration?: string | undefined
  /** Variable that has the API secret. @default 'API_SECRET' */
  readonly apiSecretEnv?: string | undefined
  /** File with more variables. Those of the environment win. @default .env.local, where there is one */
  readonly envFile?: string | undefined
  /** Fields of the payment; each has a drawn default. */
  readonly amount?: string | undefined
  readonly currency?: string | undefined
  readonly chain?: number | undefined
  readonly memo?: string | undefined
  readonly sender?: string | undefined
  readonly receiver?: string | undefined
  /** Print the scenario as the source of a test, and cause nothing. @default false */
  readonly asTest?: boolean | undefined
  readonly json?: boolean | undefined
}

/** Adds the command. */
export function addTrigger(program: Command, io: Io, finish: Finish): void {
  program
    .command('trigger')
    .description('cause an event in dev, or in a server in development, for a receiver to take')
    .addArgument(new Argument('<scenario>', 'what to cause').choices([...triggerScenarios]))
    .argument('[detail]', 'number of payments of a burst; verdict of kyc: green, red-retry or red-final')
    .option('--amount <decimal>', 'amount of the payment, such as 12.50', parseAmount)
    .option('--currency <symbol>', 'token of the payment (default USDC)')
    .option('--chain <id>', 'chain of the payment (default 137, else the first simulated one)', (text) =>
      parseChainId(text),
    )
    .option('--memo <text>', 'memo of the payment, at most 32 bytes')
    .option('--sender <address>', 'who pays', parseAddress)
    .option('--receiver <address>', 'who is paid', parseAddress)
    .option('--integration <address>', `the integration (${integratorNames.integration})`, parseAddress)
    .option('--server <url>', `the server (${integratorNames.server})`, parseNotificationUrl)
    .option('--api-secret-env <name>', `variable that has the API secret (default ${integratorNames.apiSecret})`)
    .option('--env-file <path>', 'file with these variables (default .env.local)')
    .addOption(new Option('--as-test', 'print the scenario as a test of your receiver, and cause nothing'))
    .addHelpText(
      'after',
      examples(
        'trigger refund --amount 12.50',
        'trigger burst 500',
        'trigger kyc red-retry',
        'trigger reorg --as-test',
      ),
    )
    .action(async (scenario: TriggerScenario, detail: string | undefined, _options, command) =>
      finish(await trigger(scenario, detail, optionsOf<TriggerOptions>(command), io)),
    )
}

/**
 * Causes the events of a scenario and prints each, with the text of every snapshot.
 * @returns 0 after the whole scenario, 1 when it ended early.
 * @throws UsageError `ERR_USAGE` for missing credentials or a detail that the scenario does not take; ServerError
 * `ERR_SERVER` when the server rejects the request, is not reachable or simulates no chain.
 */
export async function trigger(
  scenario: TriggerScenario,
  detail: string | undefined,
  options: TriggerOptions,
  io: Io,
): Promise<ExitCode> {
  const request = requestOf(scenario, detail, options)
  const report = createReporter(io, options.json === true)
  if (options.asTest === true) {
    const { testSource, TriggerRequestError } = await import('@payment-integration/testing/twin')
    try {
      const source = testSource(request)
      report({ event: 'test' as const, source }, (each) => each.source.trimEnd().split('\n'))
    } catch (error) {
      throw error instanceof TriggerRequestError ? new UsageError(error.message) : error
    }
    return 0
  }
  const { apiSecretEnv = integratorNames.apiSecret } = options
  const variables = await readIntegratorVariables(options.envFile, io)
  const server = readServerUrl(options.server, variables)
  const integration = readIntegration(options.integration, variables)
  const authorization = basicAuthorization(integration, readSecretIn(apiSecretEnv, variables))
  const style = createStyle(io.colour)
  let exitCode: ExitCode = 0
  const target = { url: serverPath(server, triggerPath), authorization, apiSecretEnv }
  for await (const event of postTrigger(target, request, io.signal)) {
    report(event, (each) => triggerText(each, style))
    if (event.event === 'failed') exitCode = 1
  }
  return exitCode
}

function requestOf(scenario: TriggerScenario, detail: string | undefined, options: TriggerOptions): TriggerRequest {
  const { amount, currency: token, chain: chainId, memo, sender, receiver } = options
  const given = { scenario, amount, token, chainId, memo, sender, receiver, ...detailOf(scenario, detail) }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as typeof given
}

function detailOf(scenario: TriggerScenario, detail: string | undefined): Pick<TriggerRequest, 'count' | 'verdict'> {
  if (detail === undefined) return {}
  if (scenario === 'burst') return { count: countOf(detail) }
  if (scenario !== 'kyc') throw new UsageError(`${scenario} takes no detail; only burst and kyc do.`)
  const verdict = triggerVerdicts.find((known) => known === detail)
  if (verdict === undefined) throw new UsageError(`The verdict of kyc is one of ${triggerVerdicts.join(', ')}.`)
  return { verdict }
}

function countOf(text: string): number {
  try {
    return wholeNumberParser(1, 10_000)(text)
  } catch {
    throw new UsageError('The number of payments of a burst is a whole number from 1 to 10000.')
  }
}

function parseAmount(text: string): string {
  if (/^(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?$/.test(text)) return text
  throw new InvalidArgumentError('Expected a decimal such as 12.50.')
}
