/** `payment-integration identity close`: closes stuck verifications. @module */
import type { CloseRequest, CloseResult, Identity } from '@payment-integration/core/identity'
import type { SubjectView } from '@payment-integration/core/ports'
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { withService } from '../../with-service.js'
import { chooseKey, type IdentityOptions, identityOf } from './choose-key.js'

/** Options of {@link closeVerifications}: exactly one of the first two, and a subject or an address. */
export interface CloseOptions extends Omit<IdentityOptions, 'limit'> {
  /** Close the hold of a deactivated applicant that is active again. @default false */
  readonly hold?: boolean | undefined
  /** Close the wait for a deleted applicant. @default false */
  readonly missing?: boolean | undefined
  /** The id of one subject. */
  readonly subject?: string | undefined
  /** Apply the change. @default false */
  readonly apply?: boolean | undefined
}

/** Limit of subjects of one address. */
const maxSubjects = 1_000

/** The result for a verification that was on hold or missing. */
type Result = Exclude<CloseResult, 'nothing_to_close'>

/** Why a verification is not closed. */
const refusals: Readonly<Record<Exclude<Result, 'closed'>, string>> = {
  known: 'not closed: the provider knows the applicant; the next poll that finds it by its id closes the wait',
  name_taken:
    'not closed: another applicant has its name at the provider; the log names that applicant, inspect it there',
  missing: 'not closed: the provider does not know the applicant; close the wait for it first, with --missing',
  unknown: 'not closed: the provider does not know the applicant',
  other_review:
    'not closed: the provider gives another review than the stored one; the service polls it now, so try again later',
  unproven:
    'not closed: the provider knows no other applicant of that time, or no redemption is stored here; check the tenant and the environment',
  changed: 'not closed: its verification changed meanwhile; try again',
}

/**
 * Closes holds, or waits for missing applicants, that the provider confirms. The audit log records the actor.
 * Without `apply` it prints the plan and changes nothing.
 * @returns 0 when every verification is closed, or would be; 1 when one is not, or none is stuck.
 * @throws UsageError `ERR_USAGE` unless exactly one of `hold` and `missing` is given, with a subject or an address;
 * and when sharing is off.
 */
export async function closeVerifications(options: CloseOptions, io: Io): Promise<ExitCode> {
  const { hold = false, missing = false, subject: id, apply = false } = options
  if (hold === missing)
    throw new UsageError('Pass --hold when the applicant is active again, or --missing when it was deleted.')
  if (id === undefined && options.email === undefined && options.key === undefined)
    throw new UsageError('Choose the verification with --subject, --email or --key.')
  const what = hold ? 'hold' : 'missing'
  let isDone = true
  await withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const subjects = await identity.subjects({ emailKey, id, limit: maxSubjects })
    const closed = await closeEach(identity, subjects, { what, dryRun: !apply })
    if (closed.length === 0) {
      isDone = false
      return report({ event: 'verification.nothing_to_close', what }, () => [`No such verification is ${state[what]}.`])
    }
    for (const { subjectId, applicantId, result } of closed) {
      if (result !== 'closed') isDone = false
      const event = { event: 'verification.closed', what, subjectId, applicantId, result, applied: apply }
      report(event, () => [`${subjectId}  ${applicantId ?? '-'}  ${textOf(result, what, apply)}`])
    }
    if (!apply) report({ event: 'dry_run' }, () => ['Nothing was changed; --apply closes these verifications.'])
  })
  return isDone ? 0 : 1
}

/** The state of a stuck verification, in words. */
const state = { hold: 'on hold', missing: 'missing' } as const

/** Closes the subjects one by one, and omits those that are not stuck. */
async function closeEach(
  identity: Identity,
  subjects: readonly SubjectView[],
  request: Omit<CloseRequest, 'subjectId'>,
) {
  const closed: { subjectId: string; applicantId: string | null; result: Result }[] = []
  for (const { id, applicantId } of subjects) {
    const result = await identity.closeVerification({ ...request, subjectId: id })
    if (result !== 'nothing_to_close') closed.push({ subjectId: id, applicantId, result })
  }
  return closed
}

function textOf(result: Result, what: CloseRequest['what'], apply: boolean): string {
  if (result !== 'closed') return refusals[result]
  const [done, planned] =
    what === 'hold'
      ? ['is no longer on hold', 'would no longer be on hold']
      : ['counts as deleted; the donor may share again', 'would count as deleted; the donor could then share again']
  return apply ? done : planned
}
