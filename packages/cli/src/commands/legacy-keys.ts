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

  withActor(add('create', 'issue an API key of the legacy endpoints and print it, once'))
    .option('--name <name>', 'a label for people')
    .addHelpText('after', examples('legacy-keys create --name "Till 4"'))
    .action(async (_options, command) => finish(await createLegacyKey(optionsOf<CreateLegacyKeyOptions>(command), io)))
  add('list', 'print every legacy API key, without secrets')
    .addHelpText('after', examples('legacy-keys list --json'))
    .action(async (_options, command) => finish(await listLegacyKeys(optionsOf<OperateOptions>(command), io)))
  withActor(add('revoke', 'end a legacy API key, within a quarter of a second'))
    .argument('<id>', 'its id, as legacy-keys list shows it')
    .addHelpText('after', examples('legacy-keys revoke lk_4f7c0a92d1e8b365'))
    .action(async (id: string, _options, command) =>
      finish(await revokeLegacyKey(id, optionsOf<OperateOptions>(command), io)),
    )
}

/** Options of {@link createLegacyKey}. */
export interface CreateLegacyKeyOptions extends OperateOptions {
  /** A label for people. @default empty */
  readonly name?: string | undefined
}

/** Issues an API key of the legacy endpoints and prints it once, with how it is sent. Source: INTERFACE 5 (legacy API). */
export function createLegacyKey(options: CreateLegacyKeyOptions, io: Io): Promise<ExitCode> {
  const { name } = options
  return withService({ ...options, mayCreate: true }, io, async ({ legacyKeys }, report) => {
    const issued = await legacyKeys.create({ name })
    report({ event: 'legacy_key.created', ...issued }, ({ key, apiKey }) => [
      `Created legacy API key ${key.id}${key.name === '' ? '' : ` (${key.name})`}.`,
      `  API key  ${apiKey}`,
      '  Send it  as "Authorization: <key>" with GET /api/v1/tx/<chainId>/<txHash> and POST /api/v1/verify',
      `${shownOnce('The key is')} A lost one is revoked, and a new one created.`,
    ])
  })
}

/** Prints every legacy API key without its secret, oldest first. With `json`, one object each and nothing when there is none. */
export function listLegacyKeys(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const all = await legacyKeys.list()
    if (all.length === 0 && !options.json) io.out('There is no legacy API key yet. Create one with legacy-keys create.')
    for (const key of all) report({ event: 'legacy_key', key }, (event) => [legacyKeyLine(event.key)])
  })
}

/**
 * Ends a legacy API key: a quarter of a second later at the latest, a running server answers requests with it 401. Revoking it
 * again changes nothing. Source: docs/decisions/authentication-cache.md.
 * @throws LegacyKeyNotFoundError `ERR_LEGACY_KEY_NOT_FOUND`.
 */
export function revokeLegacyKey(id: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ legacyKeys }, report) => {
    const key = await legacyKeys.revoke(id)
    report({ event: 'legacy_key.revoked', key }, (event) => [legacyKeyLine(event.key)])
  })
}

/** One line about a key: its id, whether it opens anything, the day it was made, its name. */
export function legacyKeyLine({ id, name, createdAt, revokedAt }: LegacyKeyView): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  return `${id}  ${revokedAt === null ? 'active ' : 'revoked'}  ${day}  ${name}`.trimEnd()
}
