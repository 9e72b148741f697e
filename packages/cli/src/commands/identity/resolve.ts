/** `payment-integration identity resolve`: resolves a redemption whose outcome is unknown. @module */
import type { ResolveResult } from '@payment-integration/core/identity'
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { identityOf } from './choose-key.js'

/**
 * Options of {@link resolveRedemption}: the outcome that an operator found at the provider. Exactly one is required.
 */
export interface ResolveOptions extends OperateOptions {
  /** Id of the applicant that the redemption created. */
  readonly applicant?: string | undefined
  /** The redemption created no applicant. @default false */
  readonly none?: boolean | undefined
}

/** Whether the redemption is resolved, and the printed line. */
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

/**
 * Resolves a redemption whose outcome is unknown, so that its user may share again. The audit log records the actor.
 * @returns 0 when it is resolved, 1 when nothing was changed.
 * @throws UsageError `ERR_USAGE` unless exactly one of `applicant` and `none` is given; for a blank applicant; and when
 * sharing is off.
 */
export async function resolveRedemption(externalUserId: string, options: ResolveOptions, io: Io): Promise<ExitCode> {
  const { applicant, none = false } = options
  if ((applicant !== undefined) === none)
    throw new UsageError('Look at the provider, then pass --applicant <id>, or --none when there is no applicant.')
  if (applicant?.trim() === '') throw new UsageError('--applicant expects the id of an applicant, and is blank.')
  let result: ResolveResult = 'not_open'
  await withService(options, io, async (service, report) => {
    result = await identityOf(service).resolveRedemption({ externalUserId, applicantId: applicant ?? null })
    report({ event: 'redemption.resolved', externalUserId, result }, () => [results[result][1]])
  })
  return results[result][0] ? 0 : 1
}
