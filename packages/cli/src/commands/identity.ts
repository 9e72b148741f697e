/** `payment-integration identity …`: resolves redemptions and closes stuck verifications. @module */
import type { CloseRequest, CloseResult, ResolveResult } from '@payment-integration/core/internal'
import { type Command, Option } from 'commander'
import { addGroup, type Cli, limitOption, type Options } from '../command.js'
import { UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { histories, type IdentityOptions, listSubjects, readEmailKey, requireIdentity } from './identity-lists.js'

const keyOption = `--key ${'9f2c'.repeat(16)}`

export function addIdentity(cli: Cli): void {
  const about = 'list shared identity verifications, resolve unknown outcomes and close stuck verifications'
  const exampleFromInput = 'list --email - < address.txt'
  const { add, change } = addGroup(cli, 'identity', about, exampleFromInput, `shares ${keyOption}`)

  withFilters(add('list', listSubjects, 'list', exampleFromInput, 'list --json'))
    .description('list subjects: the account of an address, its verification, and who shared it')
    .addOption(new Option('--account <id>', 'only subjects of this account').conflicts(['email', 'key']))
    .option('--after <subject>', 'start after the subject with this id')
  for (const [name, description, list] of histories)
    withFilters(add(name, list, `${name} --limit 20`, `${name} ${keyOption}`)).description(description)

  const exampleResolve = 'resolve pi:7f3a:1 --applicant 5b594ade0a975a36c9349e66'
  change('resolve', resolveRedemption, exampleResolve, 'resolve pi:7f3a:1 --none')
    .description('resolve a redemption whose outcome is unknown')
    .argument(
      '<name>',
      'external user id, as identity redemptions prints it; its state must be unresolved, unknown, or in_flight without a lease',
    )
    .addOption(new Option('--applicant <id>', 'the redemption created the applicant with this id').conflicts('none'))
    .option('--none', 'the redemption created no applicant; the user may share again')

  withAddress(
    change('close', closeVerifications, `close --hold ${keyOption}`, 'close --missing --subject 7f3a --apply'),
  )
    .description('close stuck verifications that the provider confirms as stuck; a dry run without --apply')
    .addOption(new Option('--subject <id>', 'only the subject with this id').conflicts(['email', 'key']))
    .addOption(new Option('--hold', 'the applicant was deactivated and is active again').conflicts('missing'))
    .option('--missing', 'the applicant was deleted at the provider; the donor may share again')
    .option('--apply', 'make the changes; without it only the plan is printed')
}

/** The actions validate both values: only an open service can hash an address. */
function withAddress(command: Command): Command {
  const about = 'only this e-mail address, which is hashed; - reads it from standard input'
  return command
    .addOption(new Option('--email <address>', about).conflicts('key'))
    .option('--key <keyed hash>', 'only the address with this keyed hash, as identity list prints it')
}

const withFilters = (command: Command) => withAddress(command).option(...limitOption('entries'))

type ResolveOptions = OperateOptions & Options<'applicant', string> & Options<'none'>

/** For each result, whether the redemption is resolved, and the printed line. */
const results: Readonly<Record<ResolveResult, readonly [isResolved: boolean, text: string]>> = {
  attached: [true, 'Resolved: the applicant is attached to the subject of the redemption.'],
  absent: [true, 'Resolved: the redemption created no applicant, and the user may share again.'],
  surplus: [true, 'Resolved, but the subject keeps its other applicant: handle this one at the provider.'],
  not_open: [
    false,
    'No redemption of that name has an unknown outcome: it must be unresolved, unknown, or in_flight without a lease. identity redemptions prints the states.',
  ],
  unknown_applicant: [false, 'The provider knows no such applicant; nothing was changed.'],
  of_another_subject: [false, 'That applicant belongs to another subject; nothing was changed.'],
  of_another_redemption: [
    false,
    'That applicant is attached to this subject by another redemption; nothing was changed.',
  ],
}

/** Resolves a redemption whose outcome is unknown, so that its user may share again. @returns 1 if nothing changed. */
function resolveRedemption(externalUserId: string, options: ResolveOptions, io: Io): Promise<ExitCode> {
  const { applicant, none = false } = options
  if ((applicant !== undefined) === none)
    throw new UsageError('Look it up at the provider, then pass --applicant <id>, or --none if there is none.')
  if (applicant?.trim() === '') throw new UsageError('--applicant expects the id of an applicant, and is blank.')
  return withService(options, io, async (service, report) => {
    const result = await requireIdentity(service).resolveRedemption({ externalUserId, applicantId: applicant ?? null })
    const [isResolved, text] = results[result]
    report({ event: 'redemption.resolved', externalUserId, result }, () => [text])
    return isResolved ? 0 : 1
  })
}

type CloseOptions = IdentityOptions & Options<'subject', string> & Options<'hold' | 'missing' | 'apply'>

const maxSubjects = 1_000

/** The result for a verification that was on hold or whose applicant was missing. */
type Result = Exclude<CloseResult, 'nothing_to_close'>

const rejections: Readonly<Record<Exclude<Result, 'closed'>, string>> = {
  known: 'not closed: the provider knows the applicant; the next poll that finds it by its id clears this state',
  name_taken:
    'not closed: another applicant has its name at the provider; the log names that applicant, inspect it there',
  missing: 'not closed: the provider does not know the applicant; close it with --missing first',
  unknown: 'not closed: the provider does not know the applicant',
  other_review:
    'not closed: the provider has a different review than the stored one; the service polls it now, so try again later',
  unproven:
    'not closed: the provider knows no other applicant of that time, or no redemption is stored here; check the tenant and the environment',
  changed: 'not closed: its verification changed meanwhile; try again',
}

/**
 * Closes verifications on hold or with a missing applicant, if the provider confirms that state. Without `apply` it
 * prints the plan and changes nothing.
 * @returns 0 when every verification is closed, or would be; 1 when one is not, or none is stuck.
 */
function closeVerifications(options: CloseOptions, io: Io): Promise<ExitCode> {
  const { hold = false, missing = false, subject: id, apply = false } = options
  if (hold === missing)
    throw new UsageError('Pass --hold when the applicant is active again, or --missing when it was deleted.')
  if (id === undefined && options.email === undefined && options.key === undefined)
    throw new UsageError('Choose the verification with --subject, --email or --key.')
  const what = hold ? 'hold' : 'missing'
  return withService(options, io, async (service, report) => {
    const identity = requireIdentity(service)
    const emailKey = await readEmailKey(identity, options, io)
    const subjects = await identity.subjects({ emailKey, id, limit: maxSubjects })
    let [matches, failures] = [0, 0]
    for (const { id: subjectId, applicantId } of subjects) {
      const result = await identity.closeVerification({ kind: what, dryRun: !apply, subjectId })
      if (result === 'nothing_to_close') continue
      matches += 1
      if (result !== 'closed') failures += 1
      const event = { event: 'verification.closed', what, subjectId, applicantId, result, applied: apply }
      report(event, () => [`${subjectId}  ${applicantId ?? '-'}  ${formatResult(result, what, apply)}`])
    }
    if (matches === 0) {
      const state = hold ? 'on hold' : 'missing'
      report({ event: 'verification.nothing_to_close', what }, () => [`No matching verification is ${state}.`])
      return 1
    }
    if (!apply) report({ event: 'dry_run' }, () => ['Nothing was changed; --apply closes these verifications.'])
    return failures === 0 ? 0 : 1
  })
}

function formatResult(result: Result, what: CloseRequest['kind'], apply: boolean): string {
  if (result !== 'closed') return rejections[result]
  const [done, planned] =
    what === 'hold'
      ? ['is no longer on hold', 'would no longer be on hold']
      : ['counts as deleted; the donor may share again', 'would count as deleted; the donor could then share again']
  return apply ? done : planned
}
