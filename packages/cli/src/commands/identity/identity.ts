/** `payment-integration identity …`: declares the commands of shared identity verifications. @module */
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../../command.js'
import type { Io } from '../../io.js'
import { wholeNumberParser } from '../../parse.js'
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
  ['shares', 'list shares and their outcomes, newest first', listShares],
  ['redemptions', 'list redemptions of share tokens and their states, newest first', listRedemptions],
  [
    'verdicts',
    'list reports of the provider about applicants, newest first, and whether each was applied',
    listVerdicts,
  ],
  ['accounts', 'list registrations, codes, proofs and refusals of accounts, newest first', listAccountEvents],
] as const

/** Adds the group and its commands. */
export function addIdentity(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'identity',
    'list shared identity verifications, resolve unknown outcomes and close stuck verifications',
    'identity list --email - < address.txt',
    `identity shares --key ${exampleKey}`,
  )

  withFilters(add('list', 'list subjects: the account of an address, its verification, and who shared it'))
    .addOption(new Option('--account <id>', 'only subjects of this account').conflicts(['email', 'key']))
    .option('--after <subject>', 'start after the subject with this id')
    .addHelpText('after', examples('identity list', 'identity list --email user@shop.example', 'identity list --json'))
    .action(async (_options, command) => finish(await listSubjects(optionsOf<ListSubjectsOptions>(command), io)))
  for (const [name, about, run] of histories)
    withFilters(add(name, about))
      .addHelpText('after', examples(`identity ${name} --limit 20`, `identity ${name} --key ${exampleKey}`))
      .action(async (_options, command) => finish(await run(optionsOf<IdentityOptions>(command), io)))

  withActor(add('resolve', 'resolve a redemption whose outcome is unknown'))
    .argument(
      '<name>',
      'name of the applicant, as identity redemptions prints it; its state must be unresolved, unknown, or in_flight without a lease',
    )
    .addOption(new Option('--applicant <id>', 'the redemption created the applicant with this id').conflicts('none'))
    .option('--none', 'the redemption created no applicant; the user may share again')
    .addHelpText(
      'after',
      examples('identity resolve pi:7f3a:1 --applicant 5b594ade0a975a36c9349e66', 'identity resolve pi:7f3a:1 --none'),
    )
    .action(async (name: string, _options, command) =>
      finish(await resolveRedemption(name, optionsOf<ResolveOptions>(command), io)),
    )

  const close = withActor(
    add('close', 'close stuck verifications that the provider confirms as stuck; a dry run without --apply'),
  )
  withAddress(close)
    .addOption(new Option('--subject <id>', 'only the subject with this id').conflicts(['email', 'key']))
    .addOption(new Option('--hold', 'the applicant was deactivated and is active again').conflicts('missing'))
    .option('--missing', 'the applicant was deleted at the provider; the donor may share again')
    .option('--apply', 'make the changes; without it only the plan is printed')
    .addHelpText(
      'after',
      examples(`identity close --hold --key ${exampleKey}`, 'identity close --missing --subject 7f3a --apply'),
    )
    .action(async (_options, command) => finish(await closeVerifications(optionsOf<CloseOptions>(command), io)))
}

/** The actions validate both values: an error of commander would print an address. */
function withAddress(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--email <address>',
        'only this e-mail address, which is hashed; - reads it from standard input',
      ).conflicts('key'),
    )
    .option('--key <keyed hash>', 'only the address with this keyed hash, as identity list prints it')
}

function withFilters(command: Command): Command {
  return withAddress(command).option(
    '--limit <number>',
    `print at most this many entries (default ${defaultLimit})`,
    wholeNumberParser(1, 1_000_000),
  )
}
