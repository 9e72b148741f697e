/** `payment-integration identity settle`. @module */
import type { Settled } from '@payment-integration/core'
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { identityOf } from './choose-key.js'

/** Options of {@link settleAttempt}: one of the two says what was found at the provider. */
export interface SettleOptions extends OperateOptions {
  /** The applicant that came of the attempt. */
  readonly applicant?: string | undefined
  /** Nothing came of it. @default false */
  readonly none?: boolean | undefined
}

/** What is printed, and whether the attempt is settled. */
const outcomes: Readonly<Record<Settled, readonly [isSettled: boolean, text: string]>> = {
  attached: [true, 'Settled: the applicant is attached to the account of the attempt.'],
  absent: [true, 'Settled: nothing came of the attempt, and the account may redeem again.'],
  surplus: [true, 'Settled, but the account has another applicant, which stays: deal with this one at the provider.'],
  not_open: [
    false,
    'No attempt of that name is unresolved, unknown or claimed, or its token may still be on its way; identity redemptions shows where each stands.',
  ],
  unknown_applicant: [false, 'The provider knows no such applicant; nothing was changed.'],
  of_another_account: [false, 'That applicant belongs to another account; nothing was changed.'],
  of_another_attempt: [
    false,
    'That applicant came of another attempt of the same account, and is attached already; nothing was changed.',
  ],
}

/**
 * Says what became of a token of which nobody knows it: its attempt is `unresolved`, or `unknown` or `claimed` without a claim that runs, and may keep its
 * account from redeeming until then. What is settled is in the audit log, with who did it.
 * @returns 0 when it is settled, 1 when nothing was changed.
 * @throws UsageError `ERR_USAGE` unless one of `applicant` and `none` is given, when the applicant is blank, or when sharing is off.
 */
export async function settleAttempt(externalUserId: string, options: SettleOptions, io: Io): Promise<ExitCode> {
  const { applicant, none = false } = options
  if ((applicant !== undefined) === none)
    throw new UsageError('Say what was found at the provider: --applicant <id>, or --none when nothing came of it.')
  if (applicant?.trim() === '')
    throw new UsageError('--applicant expects the id of an applicant; what was given is blank.')
  let outcome: Settled = 'not_open'
  await withService(options, io, async (service, report) => {
    outcome = await identityOf(service).settleAttempt({ externalUserId, applicantId: applicant ?? null })
    report({ event: 'attempt.settled', externalUserId, outcome }, () => [outcomes[outcome][1]])
  })
  return outcomes[outcome][0] ? 0 : 1
}
