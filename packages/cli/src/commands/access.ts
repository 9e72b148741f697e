/** The commands `operators`, `legacy-keys` and `secrets`: people, API keys and master keys. @module */
import type { OperatorView } from '@payment-integration/core'
import type { IssuedLink, LegacyKeyView, OperatorRole, ResealResult } from '@payment-integration/core/internal'
import { Argument, Option } from 'commander'
import { addGroup, type Cli, type Options } from '../command.js'
import { dayText, formatCount, momentText, shownOnce, toTable } from '../output.js'
import { type OperateOptions, type Operation, operate, operateOrCreate } from '../with-service.js'

/** The roles in help texts, repeated here because loading the core would slow every command. */
const roles: readonly OperatorRole[] = ['viewer', 'operator', 'admin']

const oidcText = 'sign in at the OpenID provider (PI_OIDC_ISSUER) instead, without a link or a passphrase'

export function addOperators(cli: Cli): void {
  const about = 'manage the people who may sign in to the console'
  const { add, change } = addGroup(cli, 'operators', about, 'list', 'create alice --role operator')
  const name = new Argument('<name>', 'name of the operator, as operators list prints it')

  change('create', createOperator, 'create alice --role operator', 'create alice@shop.example --oidc')
    .description('create an operator and print a one-time link, with which the operator sets a passphrase')
    .argument('<name>', '1 to 64 letters, digits, dots, dashes, underscores or @ signs')
    .addOption(new Option('--role <role>', 'what the operator may do').choices(roles).default('viewer'))
    .option('--oidc', oidcText)
  add('list', listOperators, 'list --json').description('list all operators')
  change('disable', setOperatorEnabled(false), 'disable alice')
    .description('end the sessions and the one-time link of an operator, and reject new sign-ins')
    .addArgument(name)
  change('enable', setOperatorEnabled(true), 'enable alice')
    .description('let a disabled operator sign in again')
    .addArgument(name)
  change('reset', resetOperator, 'reset alice')
    .description('remove the passphrase, end all sessions and print a new one-time link')
    .addArgument(name)
    .option('--oidc', oidcText)
  change('set-role', setOperatorRole, 'set-role alice admin')
    .description('change what an operator may do, including in open sessions')
    .addArgument(name)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
}

type OperatorOptions = OperateOptions & Options<'oidc'>
type CreateOptions = OperatorOptions & { readonly role: OperatorRole }

const createOperator = operateOrCreate(async ({ operators }, run: Operation<CreateOptions>, name: string) => {
  const { role, oidc } = run.options
  const issued = await (oidc ? operators.createForOidc({ name, role }) : operators.create({ name, role }))
  reportAccess(run, 'operator.created', issued, (operator) => [
    `Created operator ${operator.name} with the role ${role}.`,
    `Created operator ${operator.name} with the role ${role}; sign-in is at the OpenID provider.`,
  ])
})

const resetOperator = operate(async ({ operators }, run: Operation<OperatorOptions>, name: string) => {
  const issued = await (run.options.oidc ? operators.resetForOidc(name) : operators.reset(name))
  reportAccess(run, 'operator.reset', issued, (operator) => [
    `Reset operator ${operator.name}: the passphrase is removed, and all sessions have ended.`,
    `Reset operator ${operator.name}: all sessions have ended, and sign-in is at the OpenID provider.`,
  ])
})

/** Reports a created or reset operator, with a one-time link unless the operator signs in with OpenID. */
function reportAccess(
  { report, config: { consoleUrl, oidc } }: Operation,
  event: string,
  issued: IssuedLink | OperatorView,
  done: (operator: OperatorView) => readonly [byLink: string, byOidc: string],
) {
  if (!('linkToken' in issued))
    return report({ event, operator: issued }, ({ operator }) => [
      done(operator)[1],
      ...(oidc === null
        ? ['PI_OIDC_ISSUER is not set here: nobody can sign in this way unless the server has a provider.']
        : []),
    ])
  const { operator, linkToken } = issued
  // The token is in the fragment, which a browser sends to no server, so that no access log contains the token.
  const link = `${consoleUrl ?? ''}/console/join#${linkToken}`
  report({ event, operator, link }, () => [
    done(operator)[0],
    `  One-time link  ${link}`,
    `  Valid until    ${momentText(operator.linkExpiresAt)}`,
    `${shownOnce('The link is')} Give it to the operator alone; operators reset makes a new one.`,
    ...(consoleUrl === null
      ? [
          'PI_CONSOLE_URL is not set: put the address of the console before the link, such as https://pay.example.',
          'Operators can sign in once the server runs with PI_CONSOLE=on and PI_CONSOLE_URL.',
        ]
      : []),
  ])
}

const listOperators = operate(async ({ operators }, { report }) => {
  report.all(
    await operators.list(),
    (operator) => ({ event: 'operator', operator }),
    (all) => toTable(all, operatorColumns),
    'There is no operator yet; run operators create to make one.',
  )
})

const setOperatorEnabled = (enabled: boolean) =>
  operate(async ({ operators }, { report }, name: string) => {
    const operator = await operators.setEnabled(name, enabled)
    report({ event: enabled ? 'operator.enabled' : 'operator.disabled', operator }, operatorText)
  })

const setOperatorRole = operate(async ({ operators }, { report }, name: string, role: OperatorRole) => {
  const operator = await operators.setRole(name, role)
  report({ event: 'operator.role_set', operator }, operatorText)
})

const operatorColumns = {
  name: ({ name }: OperatorView) => name,
  role: ({ role }: OperatorView) => role,
  state: describeState,
  created: ({ createdAt }: OperatorView) => dayText(createdAt),
}

function operatorText({ operator }: { readonly operator: OperatorView }): string[] {
  const cells = Object.values(operatorColumns).map((text) => text(operator))
  return [cells.join('  ')]
}

function describeState({ enabled, signsInBy, hasPassphrase }: OperatorView): string {
  if (!enabled) return 'disabled'
  if (signsInBy === 'oidc') return 'oidc'
  return hasPassphrase ? 'active' : 'no passphrase'
}

/** API keys of the legacy endpoints. Source: docs/interface.md 5. */
export function addLegacyKeys(cli: Cli): void {
  const example = 'create --name "Till 4"'
  const { add, change } = addGroup(cli, 'legacy-keys', 'manage API keys for the legacy endpoints', 'list', example)

  change('create', createLegacyKey, example)
    .description('create an API key for the legacy endpoints and print it once')
    .option('--name <name>', 'label for operators')
  add('list', listLegacyKeys, 'list --json').description('list all legacy API keys without their secrets')
  change('revoke', revokeLegacyKey, 'revoke lk_4f7c0a92d1e8b365')
    .description('revoke a legacy API key; it stops working within a quarter of a second')
    .argument('<id>', 'id of the key, as legacy-keys list prints it')
}

type KeyOptions = OperateOptions & Options<'name', string>

const createLegacyKey = operateOrCreate(async ({ legacyKeys }, { report, options }: Operation<KeyOptions>) => {
  const issued = await legacyKeys.create({ name: options.name })
  report({ event: 'legacy_key.created', ...issued }, ({ key, apiKey }) => [
    `Created legacy API key ${key.id}${key.name === '' ? '' : ` (${key.name})`}.`,
    `  API key  ${apiKey}`,
    '  Send it  as "Authorization: <key>" with GET /api/v1/tx/<chainId>/<txHash> and POST /api/v1/verify',
    `${shownOnce('The key is')} If it is lost, revoke it and create a new one.`,
  ])
})

const listLegacyKeys = operate(async ({ legacyKeys }, { report }) => {
  report.all(
    await legacyKeys.list(),
    (key) => ({ event: 'legacy_key', key }),
    (all) => all.map(legacyKeyLine),
    'There is no legacy API key yet; run legacy-keys create to make one.',
  )
})

const revokeLegacyKey = operate(async ({ legacyKeys }, { report }, id: string) => {
  const key = await legacyKeys.revoke(id)
  report({ event: 'legacy_key.revoked', key }, (event) => [legacyKeyLine(event.key)])
})

function legacyKeyLine({ id, name, createdAt, revokedAt }: LegacyKeyView): string {
  return `${id}  ${revokedAt === null ? 'active ' : 'revoked'}  ${dayText(createdAt)}  ${name}`.trimEnd()
}

export function addSecrets(cli: Cli): void {
  const { change } = addGroup(cli, 'secrets', 'manage the encryption of secrets', 'reseal')
  change('reseal', resealSecrets, 'reseal', 'reseal --actor alice --json').description(
    'encrypt signing secrets and data keys with the newest master key, delete expired previous secrets, and list what still needs an older key',
  )
}

const resealSecrets = operate(async ({ integrations }, { report }) => {
  report({ event: 'secrets.resealed', ...(await integrations.resealSecrets()) }, resealedText)
})

function resealedText({ resealed, dataKeys, olderApiSecrets, olderLegacyKeys }: ResealResult): string[] {
  const lines = [
    resealed + dataKeys === 0
      ? 'All signing secrets and data keys were already encrypted with the newest master key.'
      : `Encrypted with the newest master key: ${formatCount(resealed, 'signing secret')}, ${formatCount(dataKeys, 'data key')}.`,
  ]
  if (olderApiSecrets.length > 0)
    lines.push(
      `${formatCount(olderApiSecrets.length, 'API secret needs', 'API secrets need')} an older master key, including previous secrets in their grace time.`,
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      ...olderApiSecrets.map((address) => `  payment-integration integrations rotate-secret ${address}`),
    )
  if (olderLegacyKeys.length > 0)
    lines.push(
      `${formatCount(olderLegacyKeys.length, 'legacy API key needs', 'legacy API keys need')} an older master key.`,
      'Create a new key for each caller, then run:',
      ...olderLegacyKeys.map((id) => `  payment-integration legacy-keys revoke ${id}`),
    )
  lines.push(
    olderApiSecrets.length === 0 && olderLegacyKeys.length === 0
      ? 'No secret needs an older master key. Remove the older keys from PI_MASTER_KEY, but store them: audit verify needs them in it for old records.'
      : 'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
  )
  return lines
}
