/** `payment-integration integrations …`: manages integrations, their secrets and their moves. @module */
import type { IntegrationView, MoveError } from '@payment-integration/core'
import type { EndpointView, UnrecordedRange } from '@payment-integration/core/internal'
import { Argument } from 'commander'
import { createGzipFile, openGzipFile } from '../archive.js'
import type { Cli, Options } from '../command.js'
import { addGroup, exampleAddress, parseAddress, parseDuration, parseHttpUrl } from '../command.js'
import { UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { formatDuration, groupDigits, momentText, shownOnce } from '../output.js'
import { type OperateOptions, type Operation, operate, operateOrCreate, withService } from '../with-service.js'

const addressArg = () => new Argument('<address>', 'integration address: 0x and 40 hex digits').argParser(parseAddress)
const parseUrlOrNone = (text: string) => (text === 'none' ? null : parseHttpUrl(text))

export function addIntegrations(cli: Cli): void {
  const example = `create ${exampleAddress} --name "My shop"`
  const { add, change } = addGroup(cli, 'integrations', 'manage integrations', 'list', example)

  const urlHelp = 'where notifications are sent: an https URL (with PI_ENV=development also http to this machine)'
  change('create', createIntegration, `create ${exampleAddress} --url https://shop.example/webhook`)
    .description('register an integration and print its two secrets once')
    .addArgument(addressArg())
    .option('--name <name>', 'label for operators')
    .option('--url <url>', urlHelp, parseHttpUrl)
  add('list', listIntegrations, 'list --json').description(
    'list all integrations without their secrets, and which endpoints fail',
  )
  change('enable', setIntegrationEnabled(true), `enable ${exampleAddress}`)
    .description('accept requests from an integration again, and send its deliveries')
    .addArgument(addressArg())
  change('disable', setIntegrationEnabled(false), `disable ${exampleAddress}`)
    .description(
      'reject requests of an integration with 401 after at most a quarter of a second, and pause its deliveries',
    )
    .addArgument(addressArg())
  change('set-url', setIntegrationUrl, `set-url ${exampleAddress} https://shop.example/webhook`)
    .description('change the URL to which notifications are sent')
    .addArgument(addressArg())
    .argument('<url>', 'an https URL, or the word none to send no notifications', parseUrlOrNone)
  change('export', exportIntegration, `export ${exampleAddress} --to shop.jsonl.gz`)
    .description('disable an integration, and write it to a file for another cell')
    .addArgument(addressArg())
    .requiredOption('--to <file>', 'path of the new file; it will contain payments and encrypted secrets')
  change('import', importIntegration, 'import shop.jsonl.gz')
    .description('import an integration from a file of another cell and enable it; after an interruption, run it again')
    .argument('<file>', 'a file that integrations export wrote')
  const rotation = `rotate-secret ${exampleAddress}`
  const signing = `${rotation} --signing`
  change('rotate-secret', rotateSecret, `${rotation} --grace 7d`, `${signing} --prepare`, `${signing} --activate`)
    .description('replace the API secret; with --signing, replace the webhook secret in two steps')
    .addArgument(addressArg())
    .option('--signing', 'replace the webhook secret; needs --prepare, --activate or --abort')
    .option(
      '--prepare',
      'create the next webhook secret without using it, and print it; prints it again until it is active',
    )
    .option('--activate', 'sign with the prepared webhook secret from now on')
    .option('--abort', 'delete the prepared webhook secret')
    .option('--grace <duration>', 'how long the previous secret stays valid (default 24h)', parseDuration)
    .option('--no-grace', 'drop the previous secret at once, because it may have leaked')
}

type CreateOptions = OperateOptions & Options<'name' | 'url', string>

const createIntegration = operateOrCreate(async ({ integrations }, run: Operation<CreateOptions>, address: string) => {
  const { name, url = null } = run.options
  const issued = await integrations.create({ address, name, notificationUrl: url })
  run.report({ event: 'integration.created', ...issued }, ({ integration, apiSecret, signingSecret, unrecorded }) => [
    `Created ${integration.address}${integration.name === '' ? '' : ` (${integration.name})`}.`,
    `  API secret      ${apiSecret}`,
    `  Webhook secret  ${signingSecret}`,
    `  Notifications   ${integration.notificationUrl ?? 'none'}`,
    `${shownOnce('Both secrets are', 'them')} If one is lost, replace it with rotate-secret.`,
    ...formatReindexCommands(unrecorded),
  ])
})

const listIntegrations = operate(async ({ integrations, deliveries }, { report }) => {
  const endpoints = new Map((await deliveries.endpoints()).map((each) => [each.integrationAddress, each]))
  const all = await integrations.list()
  report.all(
    all.map((integration) => ({ integration, endpoint: endpoints.get(integration.address) ?? null })),
    (each) => ({ event: 'integration', ...each }),
    (each) =>
      each.flatMap(({ integration, endpoint }) => [
        integrationLine(integration),
        ...endpointLines(endpoint),
        ...rotationLines(integration),
      ]),
    'No integration exists yet; register one with integrations create.',
  )
})

const setIntegrationEnabled = (enabled: boolean) =>
  operate(async ({ integrations }, { report }, address: string) => {
    const integration = await integrations.setEnabled(address, enabled)
    const event = enabled ? 'integration.enabled' : 'integration.disabled'
    report({ event, integration }, () => [integrationLine(integration)])
  })

const setIntegrationUrl = operate(async ({ integrations }, { report }, address: string, url: string | null) => {
  const integration = await integrations.setNotificationUrl(address, url)
  report({ event: 'integration.url_set', integration }, () => [integrationLine(integration)])
})

function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}

function rotationLines({ signingSecretPrepared, previousSigningSecretUntil: until }: IntegrationView): string[] {
  return [
    ...(signingSecretPrepared ? ['  next webhook secret prepared; rotate-secret --signing --activate uses it'] : []),
    ...(until === null
      ? []
      : [`  rejected deliveries are retried with the previous webhook secret until ${momentText(until)}`]),
  ]
}

function endpointLines(endpoint: EndpointView | null): string[] {
  if (endpoint === null || endpoint.blocks === 0) return []
  const { failures, failingSince } = endpoint
  return [`  endpoint failing since ${momentText(failingSince)}, ${failures} times in a row; see deliveries endpoints`]
}

/** Default grace time: a day to deploy the new secret everywhere. */
const defaultGraceMs = 86_400_000

interface RotateOptions extends OperateOptions, Options<'signing' | 'prepare' | 'activate' | 'abort'> {
  /** Grace time in milliseconds; false: none. */
  readonly grace?: number | false
}

async function rotateSecret(address: string, options: RotateOptions, io: Io): Promise<ExitCode> {
  const { grace, signing, prepare, activate, abort } = options
  if (signing ?? prepare ?? activate ?? abort) return rotateSigningSecret(address, options, io)
  const graceMs = grace === false ? 0 : (grace ?? defaultGraceMs)
  return withService(options, io, async ({ integrations }, report) => {
    const event = { event: 'integration.api_secret_rotated', address, graceMs }
    report({ ...event, ...(await integrations.rotateApiSecret(address, { graceMs })) }, ({ apiSecret }) => [
      `API secret  ${apiSecret}`,
      `${shownOnce('It is')} The previous secret ${graceMs === 0 ? 'expires within a quarter of a second' : `stays valid for ${formatDuration(graceMs)}`}.`,
    ])
  })
}

const rotationSteps = `A webhook secret is replaced in two steps, so that the receiver knows the new one first:
  rotate-secret <address> --signing --prepare    creates and prints the new secret; add it to the receiver
  rotate-secret <address> --signing --activate   signs with the new secret; add --no-grace if the old one has leaked
To delete the new secret instead, pass --abort in place of --activate.`

/** Runs one step of the rotation of a signing secret: docs/rotate-a-signing-secret.md. */
async function rotateSigningSecret(address: string, options: RotateOptions, io: Io): Promise<ExitCode> {
  const { signing = false, prepare = false, activate = false, abort = false, grace } = options
  if (!signing || [prepare, activate, abort].filter(Boolean).length !== 1) throw new UsageError(rotationSteps)
  if (!activate && grace !== undefined) throw new UsageError('--grace and --no-grace need --activate.')
  const command = `payment-integration integrations rotate-secret ${address} --signing`
  return withService(options, io, async ({ integrations }, report) => {
    if (prepare) {
      const event = { event: 'integration.signing_secret_prepared', address }
      report({ ...event, ...(await integrations.prepareSigningSecret(address)) }, ({ signingSecret, isNew }) => [
        `Webhook secret  ${signingSecret}`,
        `${isNew ? 'It is prepared' : 'It was prepared before'}; deliveries are signed with the old secret until you activate it.`,
        'This command prints it again until it is active. Add it to the receiver, keep the old secret there, then run:',
        `  ${command} --activate`,
      ])
    } else if (activate) {
      const graceMs = grace === false ? 0 : (grace ?? defaultGraceMs)
      const activated = await integrations.activateSigningSecret(address, { graceMs })
      report({ event: 'integration.signing_secret_activated', address, graceMs, ...activated }, () => [
        'Deliveries are signed with the prepared webhook secret from now on.',
        graceMs === 0
          ? 'The old secret is no longer used: remove it from the receiver.'
          : `For ${formatDuration(graceMs)}, a delivery that is answered 400, 401 or 403 is retried at once, signed with the old secret.`,
      ])
    } else {
      await integrations.abortSigningSecret(address)
      report({ event: 'integration.signing_secret_aborted', address }, () => [
        'The prepared webhook secret is deleted; deliveries are signed as before. Remove it from the receiver.',
      ])
    }
  })
}

type ExportOptions = OperateOptions & { readonly to: string }

const exportIntegration = operate(async ({ moves }, run: Operation<ExportOptions>, address: string) => {
  const { report, options, io } = run
  const { to } = options
  // The file is created before the export disables the integration.
  const file = await createGzipFile(to)
  const exported = await moves.export(address, async () => file, { signal: io.signal }).finally(file.discard)
  report({ event: 'integration.exported', address, file: to, ...exported }, (event) => [
    `Wrote ${to}: ${groupDigits(event.payments)} payments, ${groupDigits(event.deliveries)} pending deliveries, ${groupDigits(event.updates)} updates, ${groupDigits(event.waiting)} waiting updates.`,
    `  hmac ${event.hmac}`,
    `${address} is disabled here from now on. Import the file in the other cell; do not enable the integration here again.`,
  ])
})

const importIntegration = operate(async ({ moves }, { report, io }, path: string) => {
  const imported = await moves.import(openGzipFile(path), { signal: io.signal }).catch((error: unknown) => {
    const { code, unrecorded } = error as Partial<MoveError>
    if (code === 'ERR_MOVE_UNRECORDED' && unrecorded !== undefined)
      report({ event: 'integration.unrecorded', unrecorded }, () => formatReindexCommands(unrecorded))
    throw error
  })
  report({ event: 'integration.imported', ...imported }, (event) => [
    `Imported ${event.address}: ${groupDigits(event.payments)} payments, ${groupDigits(event.updates)} updates. It is enabled here.`,
    `  hmac ${event.hmac}`,
    `  ${groupDigits(event.added)} deliveries were added for versions that are not in the file.`,
    ...(event.skipped === 0
      ? []
      : [`  ${groupDigits(event.skipped)} dropped payments of the file were skipped: they were never stored here.`]),
  ])
})

/** Formats the commands that record an integration's payments from blocks indexed before its registration. */
function formatReindexCommands(unrecorded: readonly UnrecordedRange[]): string[] {
  if (unrecorded.length === 0) return []
  return [
    'Payments in earlier blocks are not recorded (PI_RECORD=own). If the integration has any there, read these blocks again:',
    ...unrecorded.map(
      ({ chainId, from, to }) => `  payment-integration reindex --chain ${chainId} --from ${from} --to ${to}`,
    ),
  ]
}
