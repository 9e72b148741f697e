/** `payment-integration doctor`: probes a receiver of notifications, and prints what to change. @module */
import type { DoctorFramework, DoctorProbe, DoctorReport } from '@payment-integration/testing/doctor'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { examples, type Finish, optionsOf } from '../../command.js'
import { InterruptedError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { createReporter, createStyle } from '../../output.js'
import { parseAddress, parseDuration, parseReceiverUrl } from '../../parse.js'
import { readCredentials } from './credentials.js'
import { findingText, headText, probeText, summaryText } from './text.js'

/** Options of {@link examineReceiver}. */
interface DoctorFlags {
  readonly integration?: string | undefined
  readonly secretEnv?: string | undefined
  readonly secretFile?: string | undefined
  readonly envFile?: string | undefined
  /** Milliseconds. */
  readonly timeout?: number | undefined
  readonly framework?: DoctorFramework | undefined
  readonly json?: true
}

/** As in the test kit, which is loaded only when the command runs. */
const frameworks: readonly DoctorFramework[] = [
  ...(['express', 'fastify', 'hono', 'next-app', 'next-pages'] as const),
  ...(['nest', 'koa', 'worker', 'lambda', 'node'] as const),
]

/** Adds the command. */
export function addDoctor(program: Command, io: Io, finish: Finish): void {
  program
    .command('doctor')
    .summary('probe a receiver of notifications, and print what to change')
    .description(
      'Sends valid and invalid deliveries to a receiver, judges its answers by the interface, and prints each cause with the line to change. A correct receiver stores the test payments: use a test system.',
    )
    .argument('<url>', 'the notification URL of the receiver', parseReceiverUrl)
    .option('--integration <address>', 'the integration of the deliveries (INTEGRATION_ADDRESS)', parseAddress)
    .option('--secret-env <name>', 'variable with the webhook signing secret (default: WEBHOOK_SIGNING_SECRET)')
    .option('--secret-file <file>', 'file with the webhook signing secret')
    .option('--env-file <file>', 'file with variables that the environment lacks (default: .env.local, if it exists)')
    .option('--timeout <duration>', 'time for an answer (default: 5s, as in the service)', parseTimeout)
    .addOption(new Option('--framework <name>', 'print only the lines of this framework').choices(frameworks))
    .addHelpText(
      'after',
      examples(
        'doctor http://127.0.0.1:4000/webhook --env-file .env.local',
        'doctor https://shop.example/webhook --secret-file secret.txt --integration 0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 --json',
      ),
    )
    .action(async (url: string, _options, command) =>
      finish(await examineReceiver(url, optionsOf<DoctorFlags>(command), io)),
    )
}

/** The bounds of the test kit, checked before the first line is printed. */
function parseTimeout(text: string): number {
  const ms = parseDuration(text)
  if (ms < 1 || ms > 600_000) throw new InvalidArgumentError('Expected a time from 1ms to 10m.')
  return ms
}

/**
 * Probes a receiver.
 * @returns 0 when no probe failed, 1 when one did.
 * @throws UsageError `ERR_USAGE` without a secret or an address, and for an unreadable file; InterruptedError
 * `ERR_INTERRUPTED`.
 */
async function examineReceiver(url: string, flags: DoctorFlags, io: Io): Promise<ExitCode> {
  const { timeout, framework, json = false } = flags
  const credentials = await readCredentials(flags, io.env)
  const { doctorHashPrefix, runDoctor } = await import('@payment-integration/testing/doctor')
  const report = createReporter(io, json)
  const style = createStyle(io.colour)
  report({ event: 'started', url, hashPrefix: doctorHashPrefix }, headText)
  const onProbe = (probe: DoctorProbe) => report({ event: 'probe', ...probe }, (event) => probeText(event, style))
  const { probes: _, ...summary } = await untilInterrupted(
    runDoctor({ url, ...credentials, now: io.now, timeoutMs: timeout, signal: io.signal, onProbe }),
    io.signal,
  )
  for (const finding of summary.findings)
    report({ event: 'finding', ...finding }, (event) => findingText(event, framework, style))
  const { findings: __, ...counts } = summary
  report({ event: 'report', ...counts }, summaryText)
  return summary.failed === 0 ? 0 : 1
}

async function untilInterrupted(running: Promise<DoctorReport>, signal: AbortSignal): Promise<DoctorReport> {
  try {
    return await running
  } catch (error) {
    if (signal.aborted) throw new InterruptedError('Interrupted before the last probe: there is no verdict.')
    throw error
  }
}
