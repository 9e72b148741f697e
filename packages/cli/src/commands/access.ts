/** The commands `operators`, `legacy-keys` and `secrets`: people, API keys and master keys. @module */
import type { OperatorView } from '@payment-integration/core'
import type { IssuedLink, LegacyKeyView, OperatorRole, ResealResult } from '@payment-integration/core/internal'
import type { Config } from '@payment-integration/server/service'
import { Argument, type Command, Option } from 'commander'
import { addGroup, type Run } from '../command.js'
import type { ExitCode, Io } from '../io.js'
import { counted, momentText, type Reporter, shownOnce, table } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

/** The roles in help texts, repeated here because loading the core would slow every command. */
const roles: readonly OperatorRole[] = ['viewer', 'operator', 'admin']

const oidcText = 'sign in at the OpenID provider (PI_OIDC_ISSUER) instead, without a link or a passphrase'

export function addOperators(program: Command, run: Run): void {
  const { add, change } = addGroup(
    program,
    'operators',
    'manage the people who may sign in to the console',
    'operators list',
    'operators create alice --role operator',
  )
  const name = new Argument('<name>', 'name of the operator, as operators list prints it')

  change(
    'create',
    'create an operator and print a one-time link, with which the operator sets a passphrase',
    'operators create alice --role operator',
    'operators create alice@shop.example --oidc',
  )
    .argument('<name>', '1 to 64 letters, digits, dots, dashes, underscores or @ signs')
    .addOption(new Option('--role <role>', 'what the operator may do').choices(roles).default('viewer'))
    .option('--oidc', oidcText)
    .action(run(createOperator))
  add('list', 'list all operators', 'operators list --json').action(run(listOperators))
  change(
    'disable',
    'end the sessions and the one-time link of an operator, and reject new sign-ins',
    'operators disable alice',
  )
    .addArgument(name)
    .action(run((given: string, options: OperateOptions, io: Io) => enableOperator(given, false, options, io)))
  change('enable', 'let a disabled operator sign in again', 'operators enable alice')
    .addArgument(name)
    .action(run((given: string, options: OperateOptions, io: Io) => enableOperator(given, true, options, io)))
  change('reset', 'remove the passphrase, end all sessions and print a new one-time link', 'operators reset alice')
    .addArgument(name)
    .option('--oidc', oidcText)
    .action(run(resetOperator))
  change('set-role', 'change what an operator may do, including in open sessions', 'operators set-role alice admin')
    .addArgument(name)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .action(run(setOperatorRole))
}

interface OperatorOptions extends OperateOptions {
  readonly oidc?: boolean
}

function createOperator(name: string, options: OperatorOptions & { readonly role: OperatorRole }, io: Io) {
  return withService({ ...options, mayCreate: true }, io, async ({ operators }, report, config) => {
    const { role, oidc } = options
    const issued = await (oidc ? operators.createForOidc({ name, role }) : operators.create({ name, role }))
    reportAccess('operator.created', issued, report, config, (operator) => [
      `Created operator ${operator.name} with the role ${role}.`,
      `Created operator ${operator.name} with the role ${role}; it signs in at the OpenID provider.`,
    ])
  })
}

function resetOperator(name: string, options: OperatorOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report, config) => {
    const issued = await (options.oidc ? operators.resetForOidc(name) : operators.reset(name))
    reportAccess('operator.reset', issued, report, config, (operator) => [
      `Reset operator ${operator.name}: the passphrase is removed, and all sessions have ended.`,
      `Reset operator ${operator.name}: all sessions have ended, and it signs in at the OpenID provider.`,
    ])
  })
}

/** Reports a created or reset operator, with a one-time link unless the operator signs in with OpenID. */
function reportAccess(
  event: string,
  issued: IssuedLink | OperatorView,
  report: Reporter,
  { consoleUrl, oidc }: Config,
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

function listOperators(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    report.all(
      await operators.list(),
      (operator) => ({ event: 'operator', operator }),
      (all) => table([['name', 'role', 'state', 'created'], ...all.map(operatorCells)]),
      'There is no operator yet; operators create makes one.',
    )
  })
}

function enableOperator(name: string, enabled: boolean, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    const operator = await operators.setEnabled(name, enabled)
    report({ event: enabled ? 'operator.enabled' : 'operator.disabled', operator }, (event) => [
      operatorCells(event.operator).join('  '),
    ])
  })
}

function setOperatorRole(name: string, role: OperatorRole, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    const operator = await operators.setRole(name, role)
    report({ event: 'operator.role_set', operator }, (event) => [operatorCells(event.operator).join('  ')])
  })
}

function operatorCells(operator: OperatorView): [string, string, string, string] {
  const { name, role, createdAt } = operator
  return [name, role, describeState(operator), new Date(createdAt).toISOString().slice(0, 10)]
}

function describeState({ enabled, signsInBy, hasPassphrase }: OperatorView): string {
  if (!enabled) return 'disabled'
  if (signsInBy === 'oidc') return 'oidc'
  return hasPassphrase ? 'active' : 'no passphrase'
}

/** API keys of the legacy endpoints. Source: docs/interface.md 5. */
export function addLegacyKeys(program: Command, run: Run): void {
  const { add, change } = addGroup(
    program,
    'legacy-keys',
    'manage API keys for the legacy endpoints',
    'legacy-keys list',
    'legacy-keys create --name "Till 4"',
  )

  change('create', 'create an API key for the legacy endpoints and print it once', 'legacy-keys create --name "Till 4"')
    .option('--name <name>', 'label for operators')
    .action(run(createLegacyKey))
  add('list', 'list all legacy API keys without their secrets', 'legacy-keys list --json').action(run(listLegacyKeys))
  change(
    'revoke',
    'revoke a legacy API key; it stops working within a quarter of a second',
    'legacy-keys revoke lk_4f7c0a92d1e8b365',
  )
    .argument('<id>', 'id of the key, as legacy-keys list prints it')
    .action(run(revokeLegacyKey))
}

function createLegacyKey(options: OperateOptions & { readonly name?: string }, io: Io): Promise<ExitCode> {
  return withService({ ...options, mayCreate: true }, io, async ({ legacyKeys }, report) => {
    const issued = await legacyKeys.create({ name: options.name })
    report({ event: 'legacy_key.created', ...issued }, ({ key, apiKey }) => [
      `Created legacy API key ${key.id}${key.name === '' ? '' : ` (${key.name})`}.`,
      `  API key  ${apiKey}`,
      '  Send it  as "Authorization: <key>" with GET /api/v1/tx/<chainId>/<txHash> and POST /api/v1/verify',
      `${shownOnce('The key is')} If it is lost, revoke it and create a new one.`,
    ])
  })
}

function listLegacyKeys(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    report.all(
      await legacyKeys.list(),
      (key) => ({ event: 'legacy_key', key }),
      (all) => all.map(legacyKeyLine),
      'There is no legacy API key yet; legacy-keys create makes one.',
    )
  })
}

function revokeLegacyKey(id: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const key = await legacyKeys.revoke(id)
    report({ event: 'legacy_key.revoked', key }, (event) => [legacyKeyLine(event.key)])
  })
}

function legacyKeyLine({ id, name, createdAt, revokedAt }: LegacyKeyView): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  return `${id}  ${revokedAt === null ? 'active ' : 'revoked'}  ${day}  ${name}`.trimEnd()
}

export function addSecrets(program: Command, run: Run): void {
  const { change } = addGroup(program, 'secrets', 'manage the encryption of secrets', 'secrets reseal')

  change(
    'reseal',
    'encrypt signing secrets and data keys with the newest master key, and list what still needs an older key',
    'secrets reseal',
    'secrets reseal --actor alice --json',
  ).action(run(resealSecrets))
}

function resealSecrets(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    report({ event: 'secrets.resealed', ...(await integrations.resealSecrets()) }, resealedText)
  })
}

function resealedText({ resealed, dataKeys, olderApiSecrets, olderLegacyKeys }: ResealResult): string[] {
  const lines = [
    resealed + dataKeys === 0
      ? 'All signing secrets and data keys were already encrypted with the newest master key.'
      : `Encrypted with the newest master key: ${counted(resealed, 'signing secret')}, ${counted(dataKeys, 'data key')}.`,
  ]
  if (olderApiSecrets.length > 0)
    lines.push(
      `${counted(olderApiSecrets.length, 'API secret needs', 'API secrets need')} an older master key, including previous secrets in their grace time.`,
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      ...olderApiSecrets.map((address) => `  payment-integration integrations rotate-secret ${address}`),
    )
  if (olderLegacyKeys.length > 0)
    lines.push(
      `${counted(olderLegacyKeys.length, 'legacy API key needs', 'legacy API keys need')} an older master key.`,
      'Create a new key for each caller, then run:',
      ...olderLegacyKeys.map((id) => `  payment-integration legacy-keys revoke ${id}`),
    )
  lines.push(
    olderApiSecrets.length === 0 && olderLegacyKeys.length === 0
      ? 'No secret needs an older master key: remove the older keys from PI_MASTER_KEY. Keep them for audit verify, which needs the key of each record.'
      : 'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
  )
  return lines
}
