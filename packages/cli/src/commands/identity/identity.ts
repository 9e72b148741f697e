/** `identity …` on the command line. @module */
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../../command.js'
import type { Io } from '../../io.js'
import { wholeNumber } from '../../parse.js'
import { defaultLimit, type IdentityOptions } from './choose-key.js'
import { type CloseOptions, closeVerifications } from './close.js'
import {
  type ListSubjectsOptions,
  listAccountEvents,
  listRedemptions,
  listShares,
  listSubjects,
  listVerdicts,
} from './list.js'
import { type ResolveOptions, resolveRedemption } from './resolve.js'

const exampleKey = '9f2c'.repeat(16)

const histories = [
  ['shares', 'print shares and their outcomes, newest first', listShares],
  ['redemptions', 'print redemptions of tokens and their states, newest first', listRedemptions],
  ['verdicts', 'print what the provider reported of applicants, newest first, and whether it counted', listVerdicts],
  ['accounts', 'print registrations, codes, proofs and refusals of accounts, newest first', listAccountEvents],
] as const

/** Adds the group and its commands. */
export function addIdentity(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'identity',
    'read shared identity verifications by keyed hash of the e-mail address, resolve unknown outcomes and close stuck verifications',
    'identity list --email - < address.txt',
    `identity shares --key ${exampleKey}`,
  )

  withFilters(add('list', 'print subjects: whose an address is, where its verification stands and who shared it'))
    .addOption(new Option('--account <id>', 'of this account').conflicts(['email', 'key']))
    .option('--after <subject>', 'begin behind this subject')
    .addHelpText('after', examples('identity list', 'identity list --email user@shop.example', 'identity list --json'))
    .action(async (_options, command) => finish(await listSubjects(optionsOf<ListSubjectsOptions>(command), io)))
  for (const [name, about, run] of histories)
    withFilters(add(name, about))
      .addHelpText('after', examples(`identity ${name} --limit 20`, `identity ${name} --key ${exampleKey}`))
      .action(async (_options, command) => finish(await run(optionsOf<IdentityOptions>(command), io)))

  withActor(add('resolve', 'resolve a redemption whose outcome is unknown'))
    .argument(
      '<name>',
      'name of the applicant, as identity redemptions prints it; the state must be unresolved, unknown, or in_flight without a lease',
    )
    .addOption(new Option('--applicant <id>', 'the redemption made this applicant').conflicts('none'))
    .option('--none', 'the redemption made no applicant, so its user may share again')
    .addHelpText(
      'after',
      examples('identity resolve pi:7f3a:1 --applicant 5b594ade0a975a36c9349e66', 'identity resolve pi:7f3a:1 --none'),
    )
    .action(async (name: string, _options, command) =>
      finish(await resolveRedemption(name, optionsOf<ResolveOptions>(command), io)),
    )

  const close = withActor(
    add('close', 'close stuck verifications, once the provider confirms it; a dry run without --apply'),
  )
  withAddress(close)
    .addOption(new Option('--subject <id>', 'of this subject').conflicts(['email', 'key']))
    .addOption(new Option('--hold', 'the applicant was deactivated, and is active again').conflicts('missing'))
    .option('--missing', 'the applicant was deleted at the provider: its donor may share again')
    .option('--apply', 'apply the change; without it the plan is printed')
    .addHelpText(
      'after',
      examples(`identity close --hold --key ${exampleKey}`, 'identity close --missing --subject 7f3a --apply'),
    )
    .action(async (_options, command) => finish(await closeVerifications(optionsOf<CloseOptions>(command), io)))
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
