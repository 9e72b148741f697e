/** `payment-integration identity close`. @module */
import type { CloseRequest, CloseResult, Identity, SubjectView } from '@payment-integration/core'
import { UsageError } from '../../errors.js'
import { plain } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import { withService } from '../../with-service.js'
import { chooseKey, type IdentityOptions, identityOf } from './choose-key.js'

/** Options of {@link closeVerifications}: exactly one of the first two, and a subject or an address. */
export interface CloseOptions extends Omit<IdentityOptions, 'limit'> {
  /** Close the hold of an applicant that was deactivated and is active again. @default false */
  readonly hold?: boolean | undefined
  /** Close the wait for an applicant that was deleted. @default false */
  readonly missing?: boolean | undefined
  /** The id of one subject. */
  readonly subject?: string | undefined
  /** Apply the change. @default false */
  readonly apply?: boolean | undefined
}

/** Most subjects of one address that are read. */
const mostSubjects = 1_000

/** The result for a verification that was on hold or missing. */
type Result = Exclude<CloseResult, 'nothing_to_close'>

/** Why a verification stays unchanged. */
const refusals: Readonly<Record<Exclude<Result, 'closed'>, string>> = {
  known: 'stays: the provider knows the applicant; the next poll ends the wait once it finds the applicant by its id',
  name_taken: 'stays: another applicant has its name at the provider; the log names it, look at it there',
  missing: 'stays: the provider does not know the applicant; close the wait for it first, with --missing',
  unknown: 'stays: the provider does not know the applicant',
  other_review: 'stays: the provider gives another review than the known one; the service polls it now, try again then',
  unproven:
    'stays: the provider knows no other applicant of that time, or no redemption is known here; check the tenant and the environment',
  changed: 'stays: its verification changed meanwhile; try again',
}

/**
 * Closes holds, or waits for missing applicants, where the provider confirms it. Without `apply` it changes nothing and
 * prints the plan. The audit log records who did.
 * @returns 0 when every one is closed, or would be; 1 when one stays, or there is none.
 * @throws UsageError `ERR_USAGE` unless exactly one of `hold` and `missing` is given, with a subject or an address; or
 * when sharing is off.
 */
export async function closeVerifications(options: CloseOptions, io: Io): Promise<ExitCode> {
  const { hold = false, missing = false, subject: id, apply = false } = options
  if (hold === missing)
    throw new UsageError('Pass --hold when the applicant is active again, or --missing when it was deleted.')
  if (id === undefined && options.email === undefined && options.key === undefined)
    throw new UsageError('Pass whose verification to close: --subject, --email or --key.')
  const what = hold ? 'hold' : 'missing'
  let isDone = true
  await withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const subjects = await identity.subjects({ emailKey, id, limit: mostSubjects })
    const closed = await closeEach(identity, subjects, { what, dryRun: !apply })
    if (closed.length === 0) {
      isDone = false
      return report({ event: 'verification.nothing_to_close', what }, () => [`No such verification is ${state[what]}.`])
    }
    for (const { subjectId, applicantId, result } of closed) {
      if (result !== 'closed') isDone = false
      const event = { event: 'verification.closed', what, subjectId, applicantId, result, applied: apply }
      report(event, () => [`${plain(subjectId)}  ${plain(applicantId ?? '-')}  ${textOf(result, what, apply)}`])
    }
    if (!apply) report({ event: 'dry_run' }, () => ['Nothing was changed; --apply closes them.'])
  })
  return isDone ? 0 : 1
}

/** What is closed, as a state. */
const state = { hold: 'on hold', missing: 'missing' } as const

/** Closes one after the other. Those with nothing to close are left out. */
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
      : ['counts as deleted; its donor may share again', 'would count as deleted, so that its donor may share again']
  return apply ? done : planned
}
