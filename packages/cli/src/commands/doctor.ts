/** `payment-integration doctor`: probes a receiver of notifications, and prints what to change. @module */
import type { DoctorFinding, DoctorFramework, DoctorProbe, DoctorReport } from '@payment-integration/testing/doctor'
import { Option } from 'commander'
import type { Cli, Options } from '../command.js'
import { addCommand, durationParser, exampleAddress, parseAddress, parseReceiverUrl } from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import { frameworkNames } from '../init/layout.js'
import type { Variables } from '../input.js'
import { checkVariableName, findFrameworks, readIntegratorVariables, readSmallFile, splitSecrets } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, createStyle, type Style } from '../output.js'

interface DoctorFlags extends Options<'integration' | 'secretEnv' | 'secretFile' | 'envFile', string>, Options<'json'> {
  /** Milliseconds. */
  readonly timeout?: number
  readonly framework?: DoctorFramework
}

/** The names of `init`, with both routers of Next. The test kit, which also has them, is loaded only on demand. */
const frameworks: readonly DoctorFramework[] = frameworkNames.flatMap((name) =>
  name === 'next' ? (['next-app', 'next-pages'] as const) : [name],
)

export function addDoctor(cli: Cli): void {
  const exampleFile = `doctor https://shop.example/webhook --secret-file secret.txt --integration ${exampleAddress} --json`
  const timeoutHelp = 'how long to wait for an answer (default: 5s, as in the service)'
  const frameworkHelp = 'print only the lines of this framework (default: from ./package.json)'
  addCommand(cli, 'doctor', examineReceiver, 'doctor http://127.0.0.1:4000/webhook --env-file .env.local', exampleFile)
    .summary('probe a receiver of notifications, and print what to change')
    .description(
      'Sends valid and invalid deliveries to a receiver, checks its answers against the interface, and prints each cause with the line to change. A correct receiver stores the test payments: use a test system.',
    )
    .argument('<url>', 'the notification URL of the receiver', parseReceiverUrl)
    .option('--integration <address>', 'the integration of the deliveries (INTEGRATION_ADDRESS)', parseAddress)
    .option('--secret-env <name>', 'variable with the webhook signing secret (default: WEBHOOK_SIGNING_SECRET)')
    .option('--secret-file <file>', 'file with the webhook signing secret')
    .option('--env-file <file>', 'file with variables that the environment lacks (default: .env.local, if it exists)')
    .option('--timeout <duration>', timeoutHelp, durationParser('10m'))
    .addOption(new Option('--framework <name>', frameworkHelp).choices(frameworks))
}

async function examineReceiver(url: string, flags: DoctorFlags, io: Io): Promise<ExitCode> {
  const { timeout, framework, json } = flags
  const credentials = await readCredentials(flags, io.env)
  const { doctorHashPrefix, runDoctor } = await import('@payment-integration/testing/doctor')
  const report = createReporter(io, json)
  const style = createStyle(io.color)
  report({ event: 'started', url, hashPrefix: doctorHashPrefix }, ({ hashPrefix }) => [
    `Probing ${url}. The hashes of all test payments begin with ${hashPrefix}.`,
    '',
  ])
  const onProbe = (probe: DoctorProbe) => report({ event: 'probe', ...probe }, (event) => probeText(event, style))
  const running = runDoctor({ url, ...credentials, clock: io, timeoutMs: timeout, signal: io.signal, onProbe })
  const result = await running.catch((error: unknown) => {
    throw io.signal.aborted ? new InterruptedError('Interrupted before the last probe: there is no verdict.') : error
  })
  const { probes: _, findings, ...counts } = result
  const usedFrameworks = framework === undefined ? await findFrameworks() : [framework]
  for (const finding of findings)
    report({ event: 'finding', ...finding }, (event) => findingText(event, usedFrameworks, style))
  report({ event: 'report', ...counts }, summaryText)
  return counts.failed === 0 ? 0 : 1
}

/** The variable names of the examples. The plural one holds several secrets, the newest first. */
const secretNames = ['WEBHOOK_SIGNING_SECRET', 'WEBHOOK_SIGNING_SECRETS']

/** Reads the credentials: from options, else the environment, else the file. No error quotes a value. */
async function readCredentials(flags: DoctorFlags, env: Io['env']) {
  const { integration, secretEnv, secretFile, envFile } = flags
  if (secretEnv !== undefined && secretFile !== undefined)
    throw new UsageError('--secret-env and --secret-file exclude each other; omit one of them.')
  const variables = await readIntegratorVariables(envFile, { env })
  const names = secretEnv === undefined ? secretNames : [checkVariableName(secretEnv)]
  return {
    signingSecret: secretFile === undefined ? getSecret(variables, names) : await readSecretFile(secretFile),
    integrationAddress: integration ?? getAddress(variables),
    // Lets the doctor recognize a receiver that verifies with the API secret.
    apiSecret: variables['API_SECRET'],
  }
}

function getSecret(variables: Variables, names: readonly string[]): string {
  const newest = names.map((name) => splitSecrets(variables[name] ?? '')[0]).find(Boolean)
  if (newest) return newest
  throw new UsageError(
    `Set ${names[0]} to the webhook signing secret, in the environment or in the file of --env-file; or pass --secret-file.`,
  )
}

function getAddress(variables: Variables): string {
  const text = variables['INTEGRATION_ADDRESS']
  if (text === undefined)
    throw new UsageError('Pass --integration with the address of the integration, or set INTEGRATION_ADDRESS.')
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase()
  throw new UsageError('INTEGRATION_ADDRESS is not an address; set it to 0x and 40 hex digits.')
}

async function readSecretFile(path: string): Promise<string> {
  const text = await readSmallFile(path, '--secret-file')
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '')
    throw new UsageError('The file of --secret-file is empty; it must hold the webhook signing secret.')
  return secret
}

const verdictColors = { pass: 'green', fail: 'red', warn: 'yellow', 'not-run': 'dim' } as const

function probeText({ name, verdict, evidence }: DoctorProbe, style: Style): string[] {
  return [`${style[verdictColors[verdict]](verdict.padEnd(7))}  ${name.padEnd(28)}${evidence}`.trimEnd()]
}

/** @param shown - The frameworks whose lines are printed; empty: all. */
export function findingText(finding: DoctorFinding, shown: readonly DoctorFramework[], style: Style): string[] {
  const { code, sentence, verdict, probes, fix } = finding
  const lines = Object.entries(fix.lines).filter(
    ([name]) => shown.length === 0 || shown.includes(name as DoctorFramework),
  )
  return [
    '',
    `${style[verdictColors[verdict]](verdict)}  ${style.bold(code)}: ${sentence}`,
    `  seen by ${probes.join(', ')}`,
    `  ${fix.summary}`,
    ...lines.map(([name, line]) => `    ${name.padEnd(12)}${line}`),
  ]
}

export function summaryText(counts: Pick<DoctorReport, 'passed' | 'failed' | 'warned' | 'notRun'>): string[] {
  const { passed, failed, warned, notRun } = counts
  return ['', `${passed} passed, ${failed} failed, ${warned} with a warning, ${notRun} not run.`]
}
