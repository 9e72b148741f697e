/** `payment-integration integrations …`: registers and changes integrations. @module */
import type { EndpointView, IntegrationView } from '@payment-integration/core'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { momentText, shownOnce } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { parseAddress, parseDuration, parseNotificationUrl, parseOptionalUrl } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'
import { type RotateSigningSecretOptions, rotateSecret, rotateSigningSecret } from './rotate-secret.js'

const addressHelp = 'integration address: 0x and 40 hex digits'
const exampleAddress = `0x${'a1'.repeat(20)}`

/** Adds the group and its commands. */
export function addIntegrations(program: Command, io: Io, finish: Finish): void {
  const create = `integrations create ${exampleAddress} --name "My shop"`
  const add = addGroup(program, 'integrations', 'manage integrations', 'integrations list', create)

  withActor(add('create', 'register an integration and print its secrets, once'))
    .argument('<address>', addressHelp, parseAddress)
    .option('--name <name>', 'a label for people')
    .option(
      '--url <url>',
      'where notifications go (https; with PI_ENV=development also http to this machine)',
      parseNotificationUrl,
    )
    .addHelpText('after', examples(`integrations create ${exampleAddress} --url https://shop.example/webhook`))
    .action(async (address: string, _options, command) =>
      finish(await createIntegration(address, optionsOf<CreateIntegrationOptions>(command), io)),
    )
  add('list', 'print every integration, without secrets, and whether its endpoint fails')
    .addHelpText('after', examples('integrations list --json'))
    .action(async (_options, command) => finish(await listIntegrations(optionsOf<OperateOptions>(command), io)))
  for (const [name, enabled] of [['enable', true] as const, ['disable', false] as const])
    withActor(
      add(
        name,
        enabled
          ? 'let an integration in again'
          : 'answer an integration 401, within a quarter of a second, and hold its deliveries',
      ),
    )
      .argument('<address>', addressHelp, parseAddress)
      .addHelpText('after', examples(`integrations ${name} ${exampleAddress}`))
      .action(async (address: string, _options, command) =>
        finish(await setIntegrationEnabled(address, enabled, optionsOf<OperateOptions>(command), io)),
      )
  withActor(add('set-url', 'change where notifications go'))
    .argument('<address>', addressHelp, parseAddress)
    .argument('<url>', 'an https URL, or none', parseOptionalUrl)
    .addHelpText('after', examples(`integrations set-url ${exampleAddress} https://shop.example/webhook`))
    .action(async (address: string, url: string | null, _options, command) =>
      finish(await setIntegrationUrl(address, url, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('rotate-secret', 'replace the API secret, or with --signing the webhook secret in two steps'))
    .argument('<address>', addressHelp, parseAddress)
    .option('--signing', 'the webhook signing secret, with one of --prepare, --activate and --abort')
    .option(
      '--prepare',
      'make the next webhook secret and print it; nothing is signed with it yet, and repeated it prints it again',
    )
    .option('--activate', 'sign with the prepared webhook secret from now on')
    .option('--abort', 'drop the prepared webhook secret')
    .option('--grace <duration>', 'how long the previous secret stays good (default 24h)', parseDuration)
    .option('--no-grace', 'drop the previous secret at once: it is known to others')
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
export interface CreateIntegrationOptions extends OperateOptions {
  /** A label for people. @default empty */
  readonly name?: string | undefined
  /** Notification URL. @default none: no notifications */
  readonly url?: string | undefined
}

/**
 * Registers an integration and prints its two secrets, once.
 * @throws IntegrationError `ERR_INTEGRATION_EXISTS`; InvalidRequestError `ERR_URL_INVALID`.
 */
export function createIntegration(address: string, options: CreateIntegrationOptions, io: Io): Promise<ExitCode> {
  const { name, url } = options
  return withService({ ...options, mayCreate: true }, io, async ({ integrations }, report) => {
    const issued = await integrations.create({ address, name, notificationUrl: url ?? null })
    report({ event: 'integration.created', ...issued }, ({ integration, apiSecret, signingSecret }) => [
      `Created ${integration.address}${integration.name === '' ? '' : ` (${integration.name})`}.`,
      `  API secret      ${apiSecret}`,
      `  Webhook secret  ${signingSecret}`,
      `  Notifications   ${integration.notificationUrl ?? 'none'}`,
      `${shownOnce('Both secrets are', 'them')} A lost one is replaced by rotate-secret.`,
    ])
  })
}

/**
 * Prints every integration without its secrets, by address, which endpoints fail, and which webhook secrets are being
 * replaced. With `json`, one object each and nothing when there is none; `endpoint` is null unless it failed at least
 * once in a row.
 */
export function listIntegrations(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations, deliveries }, report) => {
    const all = await integrations.list()
    if (all.length === 0 && !options.json) io.out('There is no integration yet. Create one with integrations create.')
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
 * Lets an integration in or shuts it out: a disabled one is answered 401, by a running server a quarter of a second later at the
 * latest, and gets no deliveries until it is enabled. Source: docs/decisions/authentication-cache.md.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export function setIntegrationEnabled(
  address: string,
  enabled: boolean,
  options: OperateOptions,
  io: Io,
): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const integration = await integrations.setEnabled(address, enabled)
    report({ event: enabled ? 'integration.enabled' : 'integration.disabled', integration }, (event) => [
      integrationLine(event.integration),
    ])
  })
}

/**
 * Changes where notifications go; null turns them off.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`; InvalidRequestError `ERR_URL_INVALID`.
 */
export function setIntegrationUrl(
  address: string,
  url: string | null,
  options: OperateOptions,
  io: Io,
): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    const integration = await integrations.setNotificationUrl(address, url)
    report({ event: 'integration.url_set', integration }, (event) => [integrationLine(event.integration)])
  })
}

/** One line about an integration. */
export function integrationLine({ address, enabled, name, notificationUrl }: IntegrationView): string {
  return `${address}  ${enabled ? 'enabled ' : 'disabled'}  ${notificationUrl ?? 'no notifications'}  ${name}`.trimEnd()
}

/** More lines about an integration whose webhook secret is being replaced. */
export function rotationLines({ signingSecretPrepared, previousSigningSecretUntil: until }: IntegrationView): string[] {
  return [
    ...(signingSecretPrepared ? ['  its next webhook secret is prepared: rotate-secret --signing --activate'] : []),
    ...(until === null
      ? []
      : [`  what it rejects is sent once more with the previous webhook secret until ${momentText(until)}`]),
  ]
}

/** One more line about an integration whose endpoint is blocked; none about another. */
export function endpointLines(endpoint: EndpointView | null): string[] {
  if (endpoint === null || endpoint.blocks === 0) return []
  const { failures, failingSince } = endpoint
  return [`  its endpoint fails since ${momentText(failingSince)}, ${failures} times in a row: deliveries endpoints`]
}
