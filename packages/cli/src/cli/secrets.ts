/** `secrets …` on the command line. @module */
import type { Command } from 'commander'
import { resealSecrets } from '../commands/secrets/reseal.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup, withActor } from './group.js'

/** Adds the group and its command. */
export function addSecrets(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(program, 'secrets', 'change how secrets are kept', 'secrets reseal')

  withActor(
    add(
      'reseal',
      'seal every signing secret and data key with the newest master key, and tell what still needs an older one',
    ),
  )
    .addHelpText('after', examples('secrets reseal', 'secrets reseal --actor alice --json'))
    .action(async (_options, command) => finish(await resealSecrets(optionsOf<OperateOptions>(command), io)))
}
