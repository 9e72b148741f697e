/**
 * `payment-integration integrations …`: registers, changes and moves integrations, and rotates their secrets.
 * @module
 */
import type { IntegrationView, MoveError, UnrecordedRange } from '@payment-integration/core'
import type { EndpointView } from '@payment-integration/core/ports'
import type { Command } from 'commander'
import { createGzipFile, openGzipFile } from '../archive.js'
import {
  addGroup,
  examples,
  type Finish,
  optionsOf,
  parseAddress,
  parseDuration,
  parseNotificationUrl,
  parseOptionalUrl,
  withActor,
} from '../command.js'
import { UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { duration, grouped, momentText, shownOnce } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

const addressHelp = 'integration address: 0x and 40 hex digits'
const exampleAddress = `0x${'a1'.repeat(20)}`

/** Adds the group and its commands. */
export function addIntegrations(program: Command, io: Io, finish: Finish): void {
  const create = `integrations create ${exampleAddress} --name "My shop"`
  const add = addGroup(program, 'integrations', 'manage integrations', 'integrations list', create)

  withActor(add('create', 'register an integration and print its two secrets once'))
    .argument('<address>', addressHelp, parseAddress)
    .option('--name <name>', 'label for operators')
    .option(
      '--url <url>',
      'where notifications are sent: an https URL (with PI_ENV=development also http to this machine)',
      parseNotificationUrl,
    )
    .addHelpText('after', examples(`integrations create ${exampleAddress} --url https://shop.example/webhook`))
    .action(async (address: string, _options, command) =>
      finish(await createIntegration(address, optionsOf<CreateIntegrationOptions>(command), io)),
    )
  add('list', 'list all integrations without their secrets, and which endpoints fail')
    .addHelpText('after', examples('integrations list --json'))
    .action(async (_options, command) => finish(await listIntegrations(optionsOf<OperateOptions>(command), io)))
  for (const [name, enabled] of [['enable', true] as const, ['disable', false] as const])
    withActor(
      add(
        name,
        enabled
          ? 'accept requests of an integration again, and send its deliveries'
          : 'answer requests of an integration with 401 within a quarter of a second, and pause its deliveries',
      ),
    )
      .argument('<address>', addressHelp, parseAddress)
      .addHelpText('after', examples(`integrations ${name} ${exampleAddress}`))
      .action(async (address: string, _options, command) =>
        finish(await setIntegrationEnabled(address, enabled, optionsOf<OperateOptions>(command), io)),
      )
  withActor(add('set-url', 'change the URL to which notifications are sent'))
    .argument('<address>', addressHelp, parseAddress)
    .argument('<url>', 'an https URL, or none to send no notifications', parseOptionalUrl)
    .addHelpText('after', examples(`integrations set-url ${exampleAddress} https://shop.example/webhook`))
    .action(async (address: string, url: string | null, _options, command) =>
      finish(await setIntegrationUrl(address, url, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('export', 'disable an integration, and write it to a file for another cell'))
    .argument('<address>', addressHelp, parseAddress)
    .requiredOption('--to <file>', 'path of the new file; it has payments and sealed secrets')
    .addHelpText('after', examples(`integrations export ${exampleAddress} --to shop.jsonl.gz`))
    .action(async (address: string, _options, command) =>
      finish(await exportIntegration(address, optionsOf<ExportOptions>(command), io)),
    )
  withActor(add('import', 'store the integration of a file from another cell, and enable it; run it again to continue'))
    .argument('<file>', 'a file of integrations export')
    .addHelpText('after', examples('integrations import shop.jsonl.gz'))
    .action(async (file: string, _options, command) =>
      finish(await importIntegration(file, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('rotate-secret', 'replace the API secret; with --signing, replace the webhook secret in two steps'))
    .argument('<address>', addressHelp, parseAddress)
    .option('--signing', 'replace the webhook secret; needs --prepare, --activate or --abort')
    .option(
      '--prepare',
      'create the next webhook secret without using it, and print it; prints it again until it is active',
    )
    .option('--activate', 'sign with the prepared webhook secret from now on')
    .option('--abort', 'delete the prepared webhook secret')
    .option('--grace <duration>', 'how long the previous secret stays valid (default 24h)', parseDuration)
    .option('--no-grace', 'drop the previous secret at once, because others know it')
    .addHelpText(
      'after',
      examples(
        `integrations rotate-secret ${exampleAddress} --grace 7d`,
        `integrations rotate-secret ${exampleAddress} --signing --prepare`,
        `integrations rotate-secret ${exampleAddress} --signing --activate`,
      ),
    )
    .action(async (address: string, _options, command) => {
      const { grace, ...options } = optionsOf<RotateSigningSecretOptions & { readonly grace?: number | false }>(command)
      const { signing, prepare, activate, abort } = options
      const rotate = (signing ?? prepare ?? activate ?? abort) ? rotateSigningSecret : rotateSecret
      finish(await rotate(address, { ...options, graceMs: grace === false ? 0 : grace }, io))
    })
}

/** Options of {@link createIntegration}. */
interface CreateIntegrationOptions extends OperateOptions {
  /** Label for operators. @default empty */
  readonly name?: string | undefined
  /** Notification URL. @default no notifications */
  readonly url?: string | undefined
}

/**
 * Registers an integration and prints its two secrets once.
 * @throws IntegrationError `ERR_INTEGRATION_EXISTS`; InvalidRequestError `ERR_URL_INVALID`.
 */
function createIntegration(address: string, options: CreateIntegrationOptions, io: Io): Promise<ExitCode> {
  const { name, url } = options
  return withService({ ...options, mayCreate: true }, io, async ({ integrations }, report) => {
    const issued = await integrations.create({ address, name, notificationUrl: url ?? null })
    report({ event: 'integration.created', ...issued }, ({ integration, apiSecret, signingSecret, unrecorded }) => [
      `Created ${integration.address}${integration.name === '' ? '' : ` (${integration.name})`}.`,
      `  API secret      ${apiSecret}`,
      `  Webhook secret  ${signingSecret}`,
      `  Notifications   ${integration.notificationUrl ?? 'none'}`,
      `${shownOnce('Both secrets are', 'them')} If one is lost, replace it with rotate-secret.`,
      ...reindexText(unrecorded),
    ])
  })
}

/**
 * Prints all integrations by address, with failing endpoints and webhook secrets that are being replaced.
 * With `json`, prints one object each, or nothing; `endpoint` is null unless its newest attempt failed.
 */
function listIntegrations(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations, deliveries }, report) => {
    const all = await integrations.list()
    if (all.length === 0 && !options.json) io.out('There is no integration yet; integrations create makes one.')
    const endpoints = new Map((await deliveries.endpoints()).map((each) => [each.integrationAddress, each]))
    for (const integration of all) {
      const endpoint = endpoints.get(integration.address) ?? null
      report({ event: 'integration', integration, endpoint }, (event) => [
        integrationLine(event.integration),
        ...endpointLines(event.endpoint),
        ...rotationLines(event.integration),
      ])
    }
  })
}

/**
 * Enables or disables an integration. A running server answers a disabled one with 401 within a quarter of a second
 * and sends it no deliveries. Source: docs/decisions/authentication-cache.md.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
function setIntegrationEnabled(address: string, enabled: boolean, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const integration = await integrations.setEnabled(address, enabled)
    report({ event: enabled ? 'integration.enabled' : 'integration.disabled', integration }, (event) => [
      integrationLine(event.integration),
    ])
  })
}

/**
 * Changes the notification URL; null turns notifications off.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; InvalidRequestError `ERR_URL_INVALID`.
 */
function setIntegrationUrl(address: string, url: string | null, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const integration = await integrations.setNotificationUrl(address, url)
    report({ event: 'integration.url_set', integration }, (event) => [integrationLine(event.integration)])
  })
}

/** One line about an integration. */
function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}

/** Lines about the replacement of an integration's webhook secret. */
function rotationLines({ signingSecretPrepared, previousSigningSecretUntil: until }: IntegrationView): string[] {
  return [
    ...(signingSecretPrepared ? ['  next webhook secret prepared; rotate-secret --signing --activate uses it'] : []),
    ...(until === null
      ? []
      : [`  rejected deliveries are repeated with the previous webhook secret until ${momentText(until)}`]),
  ]
}

/** A line about a blocked endpoint, if it is blocked. */
function endpointLines(endpoint: EndpointView | null): string[] {
  if (endpoint === null || endpoint.blocks === 0) return []
  const { failures, failingSince } = endpoint
  return [`  endpoint failing since ${momentText(failingSince)}, ${failures} times in a row; see deliveries endpoints`]
}

/** Options of {@link rotateSecret}. */
interface RotateSecretOptions extends OperateOptions {
  /** How long the previous secret stays valid, in milliseconds. @default 24 hours */
  readonly graceMs?: number | undefined
}

/** Default grace time: a day to deploy the new secret everywhere. */
const defaultGraceMs = 86_400_000

/**
 * Issues a new API secret and prints it once. The previous one stays valid for the grace time.
 * A running server may accept it for another quarter of a second: docs/decisions/authentication-cache.md.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
async function rotateSecret(address: string, options: RotateSecretOptions, io: Io): Promise<ExitCode> {
  const { graceMs = defaultGraceMs } = options
  return withService(options, io, async ({ integrations }, report) => {
    const event = { event: 'integration.api_secret_rotated', address, graceMs }
    report({ ...event, ...(await integrations.rotateApiSecret(address, { graceMs })) }, ({ apiSecret }) => [
      `API secret  ${apiSecret}`,
      `${shownOnce('It is')} The previous secret ${graceMs === 0 ? 'expires within a quarter of a second' : `stays valid for ${duration(graceMs)}`}.`,
    ])
  })
}

/** Options of {@link rotateSigningSecret}: `signing` and one of the three steps. */
interface RotateSigningSecretOptions extends RotateSecretOptions {
  readonly signing?: boolean | undefined
  /** Create the next secret, or find the prepared one, and print it. */
  readonly prepare?: boolean | undefined
  /** Sign with the prepared secret. During `graceMs`, rejected deliveries are repeated with the previous one. */
  readonly activate?: boolean | undefined
  /** Delete the prepared secret. */
  readonly abort?: boolean | undefined
}

const steps = `A webhook secret is replaced in two steps, so that the receiver knows the new one first:
  rotate-secret <address> --signing --prepare    creates and prints the new secret; add it to the receiver
  rotate-secret <address> --signing --activate   signs with the new secret; add --no-grace when others know the old one
To delete the new secret instead, pass --abort in place of --activate.`

/**
 * Runs one step of the rotation of a signing secret: docs/rotate-a-signing-secret.md.
 *
 * @throws UsageError `ERR_USAGE` unless `signing` and one step are given, and for a grace time without `activate`;
 * IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`.
 */
async function rotateSigningSecret(address: string, options: RotateSigningSecretOptions, io: Io): Promise<ExitCode> {
  const { signing = false, prepare = false, activate = false, abort = false, graceMs } = options
  if (!signing || [prepare, activate, abort].filter(Boolean).length !== 1) throw new UsageError(steps)
  if (!activate && graceMs !== undefined) throw new UsageError('--grace and --no-grace need --activate.')
  const command = `payment-integration integrations rotate-secret ${address} --signing`
  return withService(options, io, async ({ integrations }, report) => {
    if (prepare) {
      const event = { event: 'integration.signing_secret_prepared', address }
      report({ ...event, ...(await integrations.prepareSigningSecret(address)) }, ({ signingSecret, isNew }) => [
        `Webhook secret  ${signingSecret}`,
        `${isNew ? 'It is prepared' : 'It was prepared before'}; deliveries are signed with the old secret until you activate it.`,
        'Add it to the receiver and keep the old secret there. This command prints it again until it is active. Then run:',
        `  ${command} --activate`,
      ])
    } else if (activate) {
      const grace = graceMs ?? defaultGraceMs
      const activated = await integrations.activateSigningSecret(address, { graceMs: grace })
      report({ event: 'integration.signing_secret_activated', address, graceMs: grace, ...activated }, () => [
        'Deliveries are signed with the prepared webhook secret from now on.',
        grace === 0
          ? 'The old secret is no longer used: remove it from the receiver.'
          : `For ${duration(grace)}, a delivery that is answered 400, 401 or 403 is repeated at once, signed with the old secret.`,
      ])
    } else {
      await integrations.abortSigningSecret(address)
      report({ event: 'integration.signing_secret_aborted', address }, () => [
        'The prepared webhook secret is deleted; deliveries are signed as before. Remove it from the receiver.',
      ])
    }
  })
}

/** Options of {@link exportIntegration}. */
interface ExportOptions extends OperateOptions {
  /** Path of the new file. */
  readonly to: string
}

/**
 * Disables an integration, waits until none of its deliveries is in flight, and writes its file.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; ArchiveError `ERR_ARCHIVE`.
 */
function exportIntegration(address: string, { to, ...options }: ExportOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ moves }, report) => {
    const exported = await moves.export(address, () => createGzipFile(to), { signal: io.signal })
    report({ event: 'integration.exported', address, file: to, ...exported }, (event) => [
      `Wrote ${to}: ${grouped(event.payments)} payments, ${grouped(event.deliveries)} pending deliveries, ${grouped(event.updates)} updates, ${grouped(event.waiting)} waiting updates.`,
      `  hmac ${event.hmac}`,
      `${address} is disabled here, and stays so. Import the file in the other cell; do not enable it here again.`,
    ])
  })
}

/**
 * Stores the integration of a file and enables it. Run it again after a failure: it continues.
 * @throws IntegrationError `ERR_INTEGRATION_EXISTS` when it is enabled here; MoveError; ArchiveError `ERR_ARCHIVE`.
 */
function importIntegration(path: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ moves }, report) => {
    const imported = await moves.import(openGzipFile(path), { signal: io.signal }).catch((error: unknown) => {
      const { code, unrecorded } = error as Partial<MoveError>
      if (code === 'ERR_MOVE_UNRECORDED' && unrecorded !== undefined)
        report({ event: 'integration.unrecorded', unrecorded }, () => reindexText(unrecorded))
      throw error
    })
    report({ event: 'integration.imported', ...imported }, (event) => [
      `Imported ${event.address}: ${grouped(event.payments)} payments, ${grouped(event.updates)} updates. It is enabled here.`,
      `  hmac ${event.hmac}`,
      `  ${grouped(event.added)} deliveries are due of payments and states that the file does not have.`,
      ...(event.left === 0
        ? []
        : [`  ${grouped(event.left)} dropped payments were never stored here, and were left out.`]),
    ])
  })
}

/** The commands that record an integration's payments of blocks that were read before it was registered. */
function reindexText(unrecorded: readonly UnrecordedRange[]): string[] {
  if (unrecorded.length === 0) return []
  const commands = unrecorded.map(
    ({ chainId, from, to }) => `  payment-integration reindex --chain ${chainId} --from ${from} --to ${to}`,
  )
  return [
    'Payments in earlier blocks are not recorded (PI_RECORD=own). If it has any, read these blocks again:',
    ...commands,
  ]
}
