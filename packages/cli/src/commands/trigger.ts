/** `payment-integration trigger`: causes payments, changes and verdicts in a server in development. @module */
import type { TriggerScenario } from '@payment-integration/contract/internal'
import { triggerPath, triggerScenarios, triggerVerdicts } from '@payment-integration/contract/internal'
import { parseForeignJson, readForeignJson } from '@payment-integration/contract/internal-io'
import type { TriggerEvent, TriggerRequest } from '@payment-integration/testing/twin'
import { Argument, Option } from 'commander'
import { addCommand, type Cli, type Options, parseAddress, parseChainId, patternParser } from '../command.js'
import { InterruptedError, UnusableServerError, UsageError } from '../errors.js'
import type { Integrator, IntegratorOptions } from '../input.js'
import { getCredentialsError, getEndpoint, readIntegrator, withIntegrator } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, createStyle, escapeControls, formatCount, type Style, shortHash } from '../output.js'

/** The fields of the payment; the server chooses absent ones. `asTest`: only print the scenario as a test. */
type TriggerOptions = IntegratorOptions &
  Options<'amount' | 'currency' | 'memo' | 'sender' | 'receiver', string> &
  Options<'chain', number> &
  Options<'asTest'>

export function addTrigger(cli: Cli): void {
  const examples = ['trigger burst 500', 'trigger kyc red-retry', 'trigger reorg --as-test']
  withIntegrator(addCommand(cli, 'trigger', trigger, 'trigger refund --amount 12.50', ...examples))
    .description('simulate an event in dev or on a development server, to test a receiver')
    .addArgument(new Argument('<scenario>', 'the event to simulate').choices([...triggerScenarios]))
    .argument('[detail]', 'number of payments of a burst; verdict of kyc: green, red-retry or red-final')
    .option('--amount <decimal>', 'amount of the payment, such as 12.50', parseAmount)
    .option('--currency <symbol>', 'token of the payment (default USDC)')
    .option('--chain <id>', 'chain of the payment (default 137, else the first simulated one)', parseChainId)
    .option('--memo <text>', 'memo of the payment, at most 32 bytes')
    .option('--sender <address>', 'who pays', parseAddress)
    .option('--receiver <address>', 'who is paid', parseAddress)
    .addOption(new Option('--as-test', 'only print the scenario as a test for your receiver'))
}

async function trigger(
  scenario: TriggerScenario,
  detail: string | undefined,
  options: TriggerOptions,
  io: Io,
): Promise<ExitCode> {
  const { amount, currency: token, chain: chainId, memo, sender, receiver } = options
  const request = { scenario, amount, token, chainId, memo, sender, receiver, ...parseDetail(scenario, detail) }
  const report = createReporter(io, options.json)
  if (options.asTest === true) {
    const { buildTestSource, TriggerRequestError } = await import('@payment-integration/testing/twin')
    try {
      const source = buildTestSource(request)
      report({ event: 'test' as const, source }, (each) => each.source.trimEnd().split('\n'))
    } catch (error) {
      throw error instanceof TriggerRequestError ? new UsageError(error.message) : error
    }
    return 0
  }
  const target = await readIntegrator(options, io)
  const style = createStyle(io.color)
  let exitCode: ExitCode = 0
  for await (const event of postTrigger(target, request, io.signal)) {
    report(event, (each) => triggerText(each, style))
    if (event.event === 'failed') exitCode = 1
  }
  return exitCode
}

function parseDetail(scenario: TriggerScenario, detail: string | undefined): Pick<TriggerRequest, 'count' | 'verdict'> {
  if (detail === undefined) return {}
  if (scenario === 'burst') {
    const count = /^\d{1,5}$/.test(detail) ? Number(detail) : 0
    if (count >= 1 && count <= 10_000) return { count }
    throw new UsageError('The number of payments of a burst must be from 1 to 10000.')
  }
  if (scenario !== 'kyc') throw new UsageError(`${scenario} takes no detail; only burst and kyc do.`)
  const verdict = triggerVerdicts.find((known) => known === detail)
  if (verdict === undefined) throw new UsageError(`The verdict of kyc must be one of ${triggerVerdicts.join(', ')}.`)
  return { verdict }
}

const parseAmount = patternParser(/^(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?$/, 'Expected a decimal such as 12.50.')

/** The longest line, in characters; a block of 100 hashes is shorter. */
const maxLine = 1_000_000

/** Causes events as the caller reads them. The last event is `done` or `failed`. */
async function* postTrigger(target: Integrator, request: TriggerRequest, signal: AbortSignal) {
  const { url, Authorization } = getEndpoint(target, triggerPath)
  let isComplete = false
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
      redirect: 'manual',
      signal,
    }).catch((cause: unknown) => {
      throw new UnusableServerError(`${url.host} is not reachable; is the server running there?`, { cause })
    })
    if (response.status !== 200 || response.body === null) throw await toAnswerError(response, target)
    let rest = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLine) throw new UnusableServerError(noEvents)
      for (const line of lines) {
        const event = parseEvent(line)
        isComplete = event.event === 'done' || event.event === 'failed'
        yield event
      }
    }
  } catch (error) {
    if (signal.aborted)
      throw new InterruptedError('Interrupted. Events that happened so far are not undone.', { cause: error })
    throw error instanceof UnusableServerError ? error : new UnusableServerError(connectionLost, { cause: error })
  }
  if (!isComplete) throw new UnusableServerError(connectionLost)
}

const connectionLost = 'The connection was lost before the scenario was complete.'

const noEvents = 'The server sent something other than events.'

function parseEvent(line: string): TriggerEvent {
  try {
    const event = parseForeignJson(Buffer.from(line))
    if (typeof event === 'object' && event !== null && 'event' in event) return event as TriggerEvent
  } catch {
    // Malformed JSON gets the error below.
  }
  throw new UnusableServerError(noEvents)
}

async function toAnswerError(response: Response, target: Integrator): Promise<UnusableServerError> {
  const { status } = response
  if (status === 401) return getCredentialsError(target)
  if (status === 404)
    return new UnusableServerError(
      'The server simulates no events: its operator enables that with PI_SIMULATED_CHAINS, only in development.',
    )
  const body = (await readForeignJson(response, maxLine).catch(() => null)) as { readonly error?: unknown } | null
  const reason = typeof body?.error === 'string' ? `: ${body.error.slice(0, 300)}` : ''
  return new UnusableServerError(`The server answers ${status}${reason}`)
}

/** The lines of an event; none for an unknown event of a newer server. A snapshot is printed with JSON escapes. */
function triggerText(event: TriggerEvent, style: Style): readonly string[] {
  switch (event.event) {
    case 'block': {
      const { chainId, blockNumber, txHashes } = event
      const [first = ''] = txHashes
      const what = txHashes.length === 1 ? `payment  ${first}` : `payments ${txHashes.length}`
      return [`${what}   chain ${chainId}, block ${blockNumber}`]
    }
    case 'update':
      return [`update   ${shortHash(event.txHash)}   ${event.state}`]
    case 'snapshot':
      return [
        `snapshot ${shortHash(event.txHash)}   ${style.yellow(event.state ?? 'none')}   v${event.version}`,
        style.dim(escapeControls(event.body)),
      ]
    case 'delivery': {
      const { txHash, version, expected, status } = event
      const answer =
        status !== null && status >= 200 && status < 300 ? style.green(status) : style.red(status ?? 'none')
      return [`again    ${shortHash(txHash)}   v${version}, which is ${expected} now: answer ${answer}`]
    }
    case 'reorganized': {
      const place = event.included ? 'is in a new block: no new version' : 'left the chain'
      return [`reorg    ${shortHash(event.txHash)}   ${place}`]
    }
    case 'share':
      return [
        `share    ${style.dim(JSON.stringify(event.request))}`,
        `         ${event.status} ${JSON.stringify(event.answer)}`,
        ...(event.status === 422
          ? [style.dim('         The verdict is RED, so a second share gets this answer; nothing failed.')]
          : []),
      ]
    case 'failed':
      return [style.red(`failed   ${event.reason}`)]
    case 'done':
      return [
        style.green(`done     ${formatCount(event.payments, 'payment')}, ${formatCount(event.snapshots, 'snapshot')}`),
      ]
    default:
      return []
  }
}
