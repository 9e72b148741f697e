/** `payment-integration operators …`, `legacy-keys …` and `secrets …`: who has access, and by which keys. @module */
import type { IssuedLink, LegacyKeyView, OperatorView, Resealed } from '@payment-integration/core'
import type { OperatorRole } from '@payment-integration/core/ports'
import type { Config } from '@payment-integration/server/service'
import { Argument, type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import type { ExitCode, Io } from '../io.js'
import { grouped, momentText, shownOnce, table } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

/** The roles, as help texts list them. Loading the core for them would slow every command. */
const roles: readonly OperatorRole[] = ['viewer', 'operator', 'admin']

const oidcText = 'sign in at the OpenID provider (PI_OIDC_ISSUER) instead, without link and passphrase'
const byOidc = 'it signs in at the OpenID provider.'

/** Adds the group and its commands. */
export function addOperators(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'operators',
    'manage the people who may sign in to the console',
    'operators list',
    'operators create alice --role operator',
  )
  const name = new Argument('<name>', 'name of the operator, as operators list prints it')

  withActor(add('create', 'create an operator and print a one-time link, with which the operator sets a passphrase'))
    .argument('<name>', '1 to 64 letters, digits, dots, dashes, underscores or @ signs')
    .addOption(new Option('--role <role>', 'what the operator may do').choices(roles).default('viewer'))
    .option('--oidc', oidcText)
    .addHelpText(
      'after',
      examples('operators create alice --role operator', 'operators create alice@shop.example --oidc'),
    )
    .action(async (given: string, _options, command) =>
      finish(await createOperator(given, optionsOf<CreateOperatorOptions>(command), io)),
    )
  add('list', 'list all operators')
    .addHelpText('after', examples('operators list --json'))
    .action(async (_options, command) => finish(await listOperators(optionsOf<OperateOptions>(command), io)))
  withActor(add('disable', 'end the sessions and the one-time link of an operator, and reject its sign-ins'))
    .addArgument(name)
    .addHelpText('after', examples('operators disable alice'))
    .action(async (given: string, _options, command) =>
      finish(await enableOperator(given, false, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('enable', 'let a disabled operator sign in again'))
    .addArgument(name)
    .addHelpText('after', examples('operators enable alice'))
    .action(async (given: string, _options, command) =>
      finish(await enableOperator(given, true, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('reset', 'remove the passphrase, end all sessions and print a new one-time link'))
    .addArgument(name)
    .option('--oidc', oidcText)
    .addHelpText('after', examples('operators reset alice'))
    .action(async (given: string, _options, command) =>
      finish(await resetOperator(given, optionsOf<ResetOperatorOptions>(command), io)),
    )
  withActor(add('set-role', 'change what an operator may do, in open sessions too'))
    .addArgument(name)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .addHelpText('after', examples('operators set-role alice admin'))
    .action(async (given: string, role: OperatorRole, _options, command) =>
      finish(await setOperatorRole(given, role, optionsOf<OperateOptions>(command), io)),
    )
}

/** Options of {@link resetOperator}. */
interface ResetOperatorOptions extends OperateOptions {
  /** The operator signs in at the OpenID provider. */
  readonly oidc?: boolean | undefined
}

/** Options of {@link createOperator}. */
interface CreateOperatorOptions extends ResetOperatorOptions {
  readonly role: OperatorRole
}

/**
 * Creates an operator and prints the one-time link; none for one who signs in at the OpenID provider.
 * @throws OperatorError `ERR_OPERATOR_EXISTS`; OperatorInvalidError `ERR_OPERATOR_INVALID`.
 */
function createOperator(name: string, options: CreateOperatorOptions, io: Io): Promise<ExitCode> {
  return withService({ ...options, mayCreate: true }, io, async ({ operators }, report, config) => {
    const { role } = options
    if (options.oidc) {
      const operator = await operators.createForOidc({ name, role })
      return report({ event: 'operator.created', operator }, () => [
        `Created operator ${operator.name} with the role ${operator.role}; ${byOidc}`,
        ...withoutProvider(config),
      ])
    }
    const issued = await operators.create({ name, role })
    return report({ event: 'operator.created', ...withLink(issued, config) }, ({ operator, link }) => [
      `Created operator ${operator.name} with the role ${operator.role}.`,
      ...linkLines(operator, link),
    ])
  })
}

/**
 * Removes the passphrase, ends all sessions and prints a new one-time link; none with `oidc`.
 * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`, `ERR_OPERATOR_DISABLED`.
 */
function resetOperator(name: string, options: ResetOperatorOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report, config) => {
    if (options.oidc) {
      const operator = await operators.resetForOidc(name)
      return report({ event: 'operator.reset', operator }, () => [
        `Reset operator ${operator.name}: all sessions have ended, and ${byOidc}`,
        ...withoutProvider(config),
      ])
    }
    const issued = await operators.reset(name)
    return report({ event: 'operator.reset', ...withLink(issued, config) }, ({ operator, link }) => [
      `Reset operator ${operator.name}: the passphrase is removed, and all sessions have ended.`,
      ...linkLines(operator, link),
    ])
  })
}

/** Prints all operators by name. With `json`, prints one object each, or nothing. */
function listOperators(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    const all = await operators.list()
    if (options.json) for (const operator of all) report({ event: 'operator', operator }, () => [])
    else if (all.length === 0) io.out('There is no operator yet; operators create makes one.')
    else for (const line of table([['name', 'role', 'state', 'created'], ...all.map(operatorCells)])) io.out(line)
  })
}

/**
 * Enables or disables an operator. Doing so again changes nothing but the audit log.
 * @throws OperatorError `ERR_OPERATOR_NOT_FOUND`.
 */
function enableOperator(name: string, enabled: boolean, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    const operator = await operators.setEnabled(name, enabled)
    report({ event: enabled ? 'operator.enabled' : 'operator.disabled', operator }, (event) => [
      operatorLine(event.operator),
    ])
  })
}

/** Sets the role, also of open sessions. @throws OperatorError `ERR_OPERATOR_NOT_FOUND`. */
function setOperatorRole(name: string, role: OperatorRole, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ operators }, report) => {
    const operator = await operators.setRole(name, role)
    report({ event: 'operator.role_set', operator }, (event) => [operatorLine(event.operator)])
  })
}

/**
 * The token is in the fragment, which a browser sends to no server: so no access log has it. Without `PI_CONSOLE_URL`
 * the link begins with its path.
 */
function withLink({ operator, linkToken }: IssuedLink, { consoleUrl }: Config) {
  return { operator, link: `${consoleUrl ?? ''}/console/join#${linkToken}` }
}

function linkLines({ linkExpiresAt }: OperatorView, link: string): string[] {
  const isWhole = !link.startsWith('/')
  return [
    `  One-time link  ${link}`,
    `  Valid until    ${momentText(linkExpiresAt)}`,
    `${shownOnce('The link is')} Give it to the operator alone; operators reset makes a new one.`,
    ...(isWhole ? [] : withoutUrl),
  ]
}

const withoutUrl = [
  'PI_CONSOLE_URL is not set: put the address of the console before the link, such as https://pay.example.',
  'Operators can sign in once the server runs with PI_CONSOLE=on and PI_CONSOLE_URL.',
]

const withoutProvider = ({ oidc }: Config) =>
  oidc === null ? ['PI_OIDC_ISSUER is not set here: without a provider in the server nobody signs in by it.'] : []

function operatorCells(operator: OperatorView): [string, string, string, string] {
  const { name, role, createdAt } = operator
  return [name, role, stateOf(operator), new Date(createdAt).toISOString().slice(0, 10)]
}

function operatorLine(operator: OperatorView): string {
  return operatorCells(operator).join('  ')
}

function stateOf({ enabled, signsInBy, hasPassphrase }: OperatorView): string {
  if (!enabled) return 'disabled'
  if (signsInBy === 'oidc') return 'oidc'
  return hasPassphrase ? 'active' : 'no passphrase'
}

// API keys of the legacy endpoints. Source: docs/interface.md 5.

/** Adds the group and its commands. */
export function addLegacyKeys(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'legacy-keys',
    'manage API keys of the legacy endpoints',
    'legacy-keys list',
    'legacy-keys create --name "Till 4"',
  )

  withActor(add('create', 'create an API key of the legacy endpoints and print it once'))
    .option('--name <name>', 'label for operators')
    .addHelpText('after', examples('legacy-keys create --name "Till 4"'))
    .action(async (_options, command) => finish(await createLegacyKey(optionsOf<CreateLegacyKeyOptions>(command), io)))
  add('list', 'list all legacy API keys without their secrets')
    .addHelpText('after', examples('legacy-keys list --json'))
    .action(async (_options, command) => finish(await listLegacyKeys(optionsOf<OperateOptions>(command), io)))
  withActor(add('revoke', 'revoke a legacy API key; it stops working within a quarter of a second'))
    .argument('<id>', 'id of the key, as legacy-keys list prints it')
    .addHelpText('after', examples('legacy-keys revoke lk_4f7c0a92d1e8b365'))
    .action(async (id: string, _options, command) =>
      finish(await revokeLegacyKey(id, optionsOf<OperateOptions>(command), io)),
    )
}

/** Options of {@link createLegacyKey}. */
interface CreateLegacyKeyOptions extends OperateOptions {
  /** Label for operators. @default empty */
  readonly name?: string | undefined
}

/** Creates an API key of the legacy endpoints and prints it once, with its use. */
function createLegacyKey(options: CreateLegacyKeyOptions, io: Io): Promise<ExitCode> {
  const { name } = options
  return withService({ ...options, mayCreate: true }, io, async ({ legacyKeys }, report) => {
    const issued = await legacyKeys.create({ name })
    report({ event: 'legacy_key.created', ...issued }, ({ key, apiKey }) => [
      `Created legacy API key ${key.id}${key.name === '' ? '' : ` (${key.name})`}.`,
      `  API key  ${apiKey}`,
      '  Send it  as "Authorization: <key>" with GET /api/v1/tx/<chainId>/<txHash> and POST /api/v1/verify',
      `${shownOnce('The key is')} If it is lost, revoke it and create a new one.`,
    ])
  })
}

/** Prints all legacy API keys without their secrets, oldest first. With `json`, prints one object each, or nothing. */
function listLegacyKeys(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const all = await legacyKeys.list()
    if (all.length === 0 && !options.json) io.out('There is no legacy API key yet; legacy-keys create makes one.')
    for (const key of all) report({ event: 'legacy_key', key }, (event) => [legacyKeyLine(event.key)])
  })
}

/**
 * Revokes a legacy API key; revoking it again changes nothing. A running server answers it with 401 within a quarter
 * of a second: docs/decisions/authentication-cache.md.
 * @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`.
 */
function revokeLegacyKey(id: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const key = await legacyKeys.revoke(id)
    report({ event: 'legacy_key.revoked', key }, (event) => [legacyKeyLine(event.key)])
  })
}

/** One line about a key: id, state, day of creation, name. */
function legacyKeyLine({ id, name, createdAt, revokedAt }: LegacyKeyView): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  return `${id}  ${revokedAt === null ? 'active ' : 'revoked'}  ${day}  ${name}`.trimEnd()
}

/** Adds the group and its command. */
export function addSecrets(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(program, 'secrets', 'manage the encryption of secrets', 'secrets reseal')

  withActor(
    add(
      'reseal',
      'encrypt signing secrets and data keys with the newest master key, and list what still needs an older key',
    ),
  )
    .addHelpText('after', examples('secrets reseal', 'secrets reseal --actor alice --json'))
    .action(async (_options, command) => finish(await resealSecrets(optionsOf<OperateOptions>(command), io)))
}

/**
 * Encrypts signing secrets and data keys with the newest master key, the first of `PI_MASTER_KEY`.
 * Prints which secrets still need an older key, and how to replace them. May run at any time, repeatedly.
 */
function resealSecrets(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ integrations }, report) => {
    report({ event: 'secrets.resealed', ...(await integrations.resealSecrets()) }, resealedText)
  })
}

function resealedText({ resealed, dataKeys, olderApiSecrets, olderLegacyKeys }: Resealed): string[] {
  const lines = [
    resealed + dataKeys === 0
      ? 'All signing secrets and data keys were already encrypted with the newest master key.'
      : `Encrypted with the newest master key: ${counted(resealed, 'signing secret', 'signing secrets')}, ${counted(dataKeys, 'data key', 'data keys')}.`,
  ]
  if (olderApiSecrets.length > 0)
    lines.push(
      `${counted(olderApiSecrets.length, 'API secret needs', 'API secrets need')} an older master key, also a previous secret in its grace time.`,
      'Rotate each secret, deploy the new one, and run this command again after the grace time:',
      ...olderApiSecrets.map((address) => `  payment-integration integrations rotate-secret ${address}`),
    )
  if (olderLegacyKeys.length > 0)
    lines.push(
      `${counted(olderLegacyKeys.length, 'legacy API key needs', 'legacy API keys need')} an older master key.`,
      'Create a new key for each caller, then run:',
      ...olderLegacyKeys.map((id) => `  payment-integration legacy-keys revoke ${id}`),
    )
  const isDone = olderApiSecrets.length === 0 && olderLegacyKeys.length === 0
  lines.push(
    isDone
      ? 'No secret needs an older master key: remove the older keys from PI_MASTER_KEY. Store them for audit verify, which needs the key of each record.'
      : 'Leave the older keys in PI_MASTER_KEY, after the newest, until this command reports that no secret needs them.',
  )
  return lines
}

const counted = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`
