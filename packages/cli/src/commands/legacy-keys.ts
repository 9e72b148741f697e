/** `payment-integration legacy-keys …`: API keys of the legacy endpoints. Source: docs/interface.md 5. @module */
import type { LegacyKeyView } from '@payment-integration/core'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { shownOnce } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

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
