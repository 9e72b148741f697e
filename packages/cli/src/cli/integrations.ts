/** `integrations …` on the command line. @module */
import type { Command } from 'commander'
import { setIntegrationEnabled, setIntegrationUrl } from '../commands/integrations/change.js'
import { type CreateIntegrationOptions, createIntegration } from '../commands/integrations/create.js'
import { listIntegrations } from '../commands/integrations/list.js'
import { rotateSecret } from '../commands/integrations/rotate-secret.js'
import { type RotateSigningSecretOptions, rotateSigningSecret } from '../commands/integrations/rotate-signing-secret.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { parseAddress } from '../parse/address.js'
import { parseDuration } from '../parse/duration.js'
import { parseNotificationUrl, parseOptionalUrl } from '../parse/notification-url.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup, withActor } from './group.js'

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
