/** `identity …` on the command line. @module */
import { type Command, Option } from 'commander'
import { type ListAttemptsOptions, listAttempts } from '../commands/identity/attempts.js'
import { defaultLimit } from '../commands/identity/choose-key.js'
import { type ListVerificationsOptions, listVerifications } from '../commands/identity/list.js'
import type { Io } from '../io.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup } from './group.js'

const exampleKey = '9f2c'.repeat(16)

/** Adds the group and its commands. */
export function addIdentity(program: Command, io: Io, finish: Finish): void {
  const byKey = `identity attempts --key ${exampleKey}`
  const add = addGroup(
    program,
    'identity',
    'read shared identity verifications and the attempts to share them, by keyed hash of the e-mail,',
    'identity list --email - < address.txt',
    byKey,
  )

  withFilters(add('list', 'print verifications by account: where they stand and who shared them'))
    .option('--after <account>', 'begin behind this account')
    .addHelpText('after', examples('identity list', 'identity list --email user@shop.example', 'identity list --json'))
    .action(async (_options, command) =>
      finish(await listVerifications(optionsOf<ListVerificationsOptions>(command), io)),
    )
  withFilters(add('attempts', 'print attempts to share, newest first, and how each ended'))
    .addHelpText('after', examples('identity attempts --limit 20', byKey))
    .action(async (_options, command) => finish(await listAttempts(optionsOf<ListAttemptsOptions>(command), io)))
}

/** Neither value is checked here, because what is wrong would be printed with it. */
function withFilters(command: Command): Command {
  return command
    .addOption(
      new Option('--email <address>', 'of this address, which is hashed; - reads it from standard input').conflicts(
        'key',
      ),
    )
    .option('--key <keyed hash>', 'of the address with this keyed hash, as these commands print it')
    .option('--limit <number>', `most that are printed (default ${defaultLimit})`, wholeNumber(1, 1_000_000))
}
