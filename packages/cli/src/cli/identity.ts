/** `identity …` on the command line. @module */
import { type Command, Option } from 'commander'
import { listAccountEvents } from '../commands/identity/accounts.js'
import { listAttempts } from '../commands/identity/attempts.js'
import { defaultLimit, type IdentityOptions } from '../commands/identity/choose-key.js'
import { type EndOptions, endVerifications } from '../commands/identity/end.js'
import { type ListVerificationsOptions, listVerifications } from '../commands/identity/list.js'
import { listRedemptions } from '../commands/identity/redemptions.js'
import { type SettleOptions, settleAttempt } from '../commands/identity/settle.js'
import { listVerdicts } from '../commands/identity/verdicts.js'
import type { Io } from '../io.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup, withActor } from './group.js'

const exampleKey = '9f2c'.repeat(16)

const histories = [
  ['attempts', 'print attempts to share, newest first, and how each ended', listAttempts],
  [
    'redemptions',
    'print attempts that may have sent a token to the provider, and what became of each',
    listRedemptions,
  ],
  ['verdicts', 'print what the provider said of applicants, newest first, and whether it counted', listVerdicts],
  ['accounts', 'print registrations, codes, claims and refusals of accounts, newest first', listAccountEvents],
] as const

/** Adds the group and its commands. */
export function addIdentity(program: Command, io: Io, finish: Finish): void {
  const byKey = `identity attempts --key ${exampleKey}`
  const add = addGroup(
    program,
    'identity',
    'read shared identity verifications and the attempts to share them, by keyed hash of the e-mail, and end what nobody else ends,',
    'identity list --email - < address.txt',
    byKey,
  )

  withFilters(add('list', 'print verifications by account: where they stand and who shared them'))
    .option('--after <account>', 'begin behind this account')
    .addHelpText('after', examples('identity list', 'identity list --email user@shop.example', 'identity list --json'))
    .action(async (_options, command) =>
      finish(await listVerifications(optionsOf<ListVerificationsOptions>(command), io)),
    )
  for (const [name, about, run] of histories)
    withFilters(add(name, about))
      .addHelpText('after', examples(`identity ${name} --limit 20`, `identity ${name} --key ${exampleKey}`))
      .action(async (_options, command) => finish(await run(optionsOf<IdentityOptions>(command), io)))

  withActor(add('settle', 'say what became of a token of which nobody knows it, as an operator found at the provider'))
    .argument(
      '<name>',
      'name of the applicant, as identity redemptions shows it; its state is unresolved, or unknown or claimed without a claim that runs',
    )
    .addOption(new Option('--applicant <id>', 'this applicant came of it').conflicts('none'))
    .option('--none', 'nothing came of it, so the account may redeem again')
    .addHelpText(
      'after',
      examples('identity settle pi:7f3a:1 --applicant 5b594ade0a975a36c9349e66', 'identity settle pi:7f3a:1 --none'),
    )
    .action(async (name: string, _options, command) =>
      finish(await settleAttempt(name, optionsOf<SettleOptions>(command), io)),
    )

  const end = withActor(
    add('end', 'end what a lost webhook left open, once the provider confirms it; a dry run without --apply'),
  )
  withAddress(end)
    .addOption(new Option('--account <id>', 'of this account').conflicts(['email', 'key']))
    .addOption(new Option('--hold', 'the applicant was switched off, and is on again').conflicts('missing'))
    .option('--missing', 'the applicant was deleted at the provider: its donor may share again')
    .option('--apply', 'do it; without this it is only told what would be done')
    .addHelpText(
      'after',
      examples(`identity end --hold --key ${exampleKey}`, 'identity end --missing --account 7f3a --apply'),
    )
    .action(async (_options, command) => finish(await endVerifications(optionsOf<EndOptions>(command), io)))
}

/** Neither value is checked here, because what is wrong would be printed with it. */
function withAddress(command: Command): Command {
  return command
    .addOption(
      new Option('--email <address>', 'of this address, which is hashed; - reads it from standard input').conflicts(
        'key',
      ),
    )
    .option('--key <keyed hash>', 'of the address with this keyed hash, as these commands print it')
}

function withFilters(command: Command): Command {
  return withAddress(command).option(
    '--limit <number>',
    `most that are printed (default ${defaultLimit})`,
    wholeNumber(1, 1_000_000),
  )
}
