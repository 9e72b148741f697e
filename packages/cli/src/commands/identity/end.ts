/** `payment-integration identity end`. @module */
import type { Ended, Ending, Identity, VerificationView } from '@payment-integration/core'
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { plain } from '../../output/plain.js'
import { withService } from '../with-service.js'
import { chooseKey, type IdentityOptions, identityOf } from './choose-key.js'

/** Options of {@link endVerifications}: one of the first two says what is ended, and an address or an account of whom. */
export interface EndOptions extends Omit<IdentityOptions, 'limit'> {
  /** The hold of an applicant that was switched off, and is on again. @default false */
  readonly hold?: boolean | undefined
  /** The wait for an applicant that was deleted. @default false */
  readonly missing?: boolean | undefined
  readonly account?: string | undefined
  /** Do it. @default false */
  readonly apply?: boolean | undefined
}

/** Most accounts of one address that are looked at. */
const mostAccounts = 1_000

/** What became of a verification that had something to end. */
type Outcome = Exclude<Ended, 'nothing_to_end'>

/** What is printed of an account that stays as it is. */
const refusals: Readonly<Record<Exclude<Outcome, 'ended'>, string>> = {
  known: 'stays: the provider knows the applicant; it is asked about again, which ends it once it is found by its id',
  name_taken:
    'stays: the provider knows another applicant under its name, which the log names; look at that one at the provider',
  missing: 'stays: the provider does not know the applicant; end the wait for it first, with --missing',
  unknown: 'stays: the provider does not know the applicant',
  other_review: 'stays: the provider gives another review than is known; it is asked about again, try after that',
  unproven:
    'stays: no attempt of it is known here, or the provider knows none of the applicants that were there with it; check the tenant and the environment',
  changed: 'stays: something was heard of it meanwhile; try again',
}

/**
 * Ends the hold of an applicant, or the wait for one that is missing, where the provider confirms it. Without `apply` it changes nothing and tells what would be
 * done. What is ended is in the audit log, with who did it.
 * @returns 0 when all that was open is ended, or would be; 1 when something of it stays, or nothing was open.
 * @throws UsageError `ERR_USAGE` unless one of `hold` and `missing`, and an address or an account are given, or when sharing is off.
 */
export async function endVerifications(options: EndOptions, io: Io): Promise<ExitCode> {
  const { hold = false, missing = false, account, apply = false } = options
  if (hold === missing)
    throw new UsageError('Say what to end: --hold when the applicant is on again, --missing when it was deleted.')
  if (account === undefined && options.email === undefined && options.key === undefined)
    throw new UsageError('Say whose verification to end, with --email, --key or --account.')
  const what = hold ? 'hold' : 'missing'
  let isDone = true
  await withService(options, io, async (service, report) => {
    const identity = identityOf(service)
    const emailKey = await chooseKey(identity, options, io)
    const found = await identity.verifications({ emailKey, accountId: account, limit: mostAccounts })
    const outcomes = await endEach(identity, found, { what, dryRun: !apply })
    if (outcomes.length === 0) {
      isDone = false
      const none = what === 'hold' ? 'No applicant of that is on hold.' : 'No applicant of that is missing.'
      return report({ event: 'verification.nothing_to_end', what }, () => [none])
    }
    for (const { accountId, applicantId, outcome } of outcomes) {
      if (outcome !== 'ended') isDone = false
      const event = { event: 'verification.ended', what, accountId, applicantId, outcome, applied: apply }
      report(event, () => [`${plain(accountId)}  ${plain(applicantId ?? '-')}  ${textOf(outcome, what, apply)}`])
    }
    if (!apply) report({ event: 'dry_run' }, () => ['Nothing was changed; --apply does it.'])
  })
  return isDone ? 0 : 1
}

/** Ends them one after the other. Those with nothing to end are left out. */
async function endEach(
  identity: Identity,
  verifications: readonly VerificationView[],
  ending: Omit<Ending, 'accountId'>,
) {
  const outcomes: { accountId: string; applicantId: string | null; outcome: Outcome }[] = []
  for (const { accountId, applicantId } of verifications) {
    const outcome = await identity.endVerification({ ...ending, accountId })
    if (outcome !== 'nothing_to_end') outcomes.push({ accountId, applicantId, outcome })
  }
  return outcomes
}

function textOf(outcome: Outcome, what: Ending['what'], apply: boolean): string {
  if (outcome !== 'ended') return refusals[outcome]
  const [done, would] =
    what === 'hold'
      ? ['is on hold no more', 'would be on hold no more']
      : ['is gone; its donor, and nobody else, may share again', 'would be gone, so that its donor may share again']
  return apply ? done : would
}
