/** `payment-integration explain`: checks whether a pasted delivery verifies, and explains a failure. @module */
import type { ExplainFinding, Explanation, RequestForm } from '@payment-integration/testing/explain'
import { addCommand, append, type Cli, type Options, wholeNumberParser } from '../command.js'
import { UsageError } from '../errors.js'
import { findFrameworks, readInput, readIntegratorVariables, readSecret, type Variables } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { alignRows, createReporter, groupDigits, indent, roundDuration } from '../output.js'

interface ExplainFlags
  extends Options<'body' | 'headers' | 'apiSecretEnv' | 'envFile', string>,
    Options<'secretEnv' | 'secretFile' | 'previousSecretEnv', readonly string[]>,
    Options<'json'> {
  /** Unix time in seconds. */
  readonly now?: number
}

/** The variable that the documentation's receivers use. */
const defaultVariable = 'WEBHOOK_SIGNING_SECRET'
const maxMiB = 16
/** The last second of the year 9999. */
const lastSecond = 253_402_300_799

export function addExplain(cli: Cli): void {
  addCommand(
    cli,
    'explain',
    explain,
    'explain request.txt',
    'explain request.txt --env-file .env.local',
    'explain --headers headers.txt --body body.json --secret-file secret.txt',
    'explain request.txt --secret-env NEW_SECRET --previous-secret-env OLD_SECRET --json',
  )
    .summary('check whether a pasted delivery verifies, and explain why not')
    .description(
      'check whether a delivery verifies, and explain why not: takes a curl command, a raw HTTP message or a gateway event, from a file or standard input; exits with 1 unless it verifies',
    )
    .argument('[file]', 'the request (default: standard input)')
    .option('--body <file>', 'the body, if the request does not contain it; - reads standard input')
    .option('--headers <file>', 'the headers, as lines or JSON, instead of a request; needs --body')
    .option('--secret-env <name>', `variable with a signing secret; repeatable (default: ${defaultVariable})`, append)
    .option('--secret-file <file>', 'file with a signing secret, used byte for byte; repeatable', append)
    .option('--previous-secret-env <name>', 'variable with a replaced signing secret; repeatable', append)
    .option('--api-secret-env <name>', 'variable with the API secret, to detect that the two secrets are swapped')
    .option('--env-file <file>', 'file with variables that the environment lacks (default: .env.local, if it exists)')
    .option('--now <unix seconds>', 'the time of receipt (default: the clock)', wholeNumberParser(0, lastSecond))
}

/** Returns 0 when the delivery verifies, else 1. No argument holds a secret, because other users can see arguments. */
async function explain(file: string | undefined, flags: ExplainFlags, io: Io): Promise<ExitCode> {
  const secrets = await readSecrets(flags, io)
  const { explainDelivery } = await import('@payment-integration/testing/explain')
  const { headers, body, ...request } = await readRequest(file, flags, io)
  const nowMs = flags.now === undefined ? io.now() : flags.now * 1_000
  const explanation = await explainDelivery({ headers, body, ...secrets, clock: { now: () => nowMs } })
  const explained: ExplainedRequest = { ...request, now: Math.floor(nowMs / 1_000), ...explanation }
  const frameworks = await findFrameworks()
  createReporter(io, flags.json)({ event: 'explanation', ...explained }, (event) => explanationText(event, frameworks))
  return explanation.verified ? 0 : 1
}

async function readRequest(file: string | undefined, flags: ExplainFlags, io: Io) {
  const { parseHeaders, parseRequest } = await import('@payment-integration/testing/explain')
  const sources = [file ?? (flags.headers === undefined ? '-' : ''), flags.body, flags.headers]
  if (sources.filter((each) => each === '-').length > 1)
    throw new UsageError('Standard input can be read only once; name files for the others.')
  const body = flags.body === undefined ? undefined : await readInput(flags.body, io, maxMiB)
  if (flags.headers === undefined) return parseRequest(await readInput(file ?? '-', io, maxMiB), { body })
  if (file !== undefined || body === undefined)
    throw new UsageError('--headers replaces the request file: pass --body too, and no other file.')
  const headers = parseHeaders(await readInput(flags.headers, io, maxMiB))
  return { form: 'headers' as const, headers, body, warnings: [] }
}

async function readSecrets(flags: ExplainFlags, io: Io) {
  const { secretEnv = [], secretFile = [], previousSecretEnv = [], apiSecretEnv, envFile } = flags
  const variables = await readIntegratorVariables(envFile, io)
  const names = secretEnv.length + secretFile.length === 0 ? [defaultVariable] : secretEnv
  const fileSecrets = await Promise.all(
    secretFile.map(async (path) => ({ name: path, value: (await readInput(path, io, 1)).toString() })),
  )
  return {
    secrets: [...names.map((name) => getSecret(name, variables)), ...fileSecrets],
    previousSecrets: previousSecretEnv.map((name) => getSecret(name, variables)),
    apiSecret: apiSecretEnv === undefined ? undefined : getSecret(apiSecretEnv, variables),
  }
}

const getSecret = (name: string, variables: Variables) => ({ name, value: readSecret(name, variables) })

interface ExplainedRequest extends Explanation {
  readonly form: RequestForm
  /** Reasons why the bytes may differ from those that were sent. */
  readonly warnings: readonly string[]
  /** The time of receipt: unix seconds. */
  readonly now: number
}

/** @param shown - The frameworks whose lines are printed; empty: all. */
function explanationText(explained: ExplainedRequest, shown: readonly string[]): string[] {
  const { findings, warnings } = explained
  const all = findings.find((finding) => finding.lines.length > 0)?.lines ?? []
  const isShown = (title: string) => shown.length === 0 || shown.includes(title.toLowerCase().replace(' ', '-'))
  const lines = all.filter(({ framework }) => isShown(framework))
  return [
    verdictText(explained),
    ...findings.flatMap((finding, index) => ['', ...findingText(finding, index + 1)]),
    ...(lines.length === 0 ? [] : ['', 'The raw body in your framework:']),
    ...indent(alignRows(lines.map(({ framework, line }) => [framework, line]))),
    '',
    ...factsText(explained),
    ...warnings.map((warning) => `Note: ${warning}`),
  ]
}

function verdictText({ verified, signature, signedBy, findings: [first] }: ExplainedRequest): string {
  if (verified) return `Verified: ${signedBy ?? ''} signed these bytes.`
  const doubt = first === undefined || first.proved ? '' : '; likely cause'
  const though = signature === 'matches' ? ', although the signature matches' : ''
  return `Not verified${though}${doubt}: ${first?.cause ?? 'the reason is not known.'}`
}

function findingText({ code, proved, cause, evidence, change }: ExplainFinding, number: number): string[] {
  return [
    `${number}. ${code} (${proved ? 'proved' : 'likely'})`,
    `   Cause:    ${cause}`,
    ...evidence.map((fact) => `   Evidence: ${fact}`),
    `   Change:   ${change}`,
  ]
}

function factsText({ header, ageSeconds, toleranceSeconds, bodyBytes, signedBytes }: ExplainedRequest): string[] {
  const fields = header.fields.map(
    ({ name, length, status }) => `${name} (${status}, ${groupDigits(length)} characters)`,
  )
  return [
    `Signature header: ${header.count === 0 ? 'not found under its name' : fields.length > 0 ? fields.join(', ') : 'no field found'}.`,
    ageSeconds === null
      ? 'Age: unknown.'
      : `Age: ${ageText(ageSeconds)}; up to ${toleranceSeconds} s on either side are accepted.`,
    `Body: ${groupDigits(bodyBytes)} bytes${signedBytes === null ? '' : `; signed with its time: ${groupDigits(signedBytes)} bytes`}.`,
  ]
}

function ageText(seconds: number): string {
  const size = Math.abs(seconds)
  const rounded = size < 90 ? '' : ` (${roundDuration(size)})`
  return `${size} s${rounded}${seconds < 0 ? ' in the future' : ''}`
}
