/** `legacy-keys …` on the command line. @module */
import type { Command } from 'commander'
import { type CreateLegacyKeyOptions, createLegacyKey } from '../commands/legacy-keys/create.js'
import { listLegacyKeys } from '../commands/legacy-keys/list.js'
import { revokeLegacyKey } from '../commands/legacy-keys/revoke.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup, withActor } from './group.js'

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
