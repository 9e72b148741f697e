/**
 * Changes a verification and emits its events. Source: the provider's pages on statuses and on user verification
 * webhooks.
 * @module
 */
import { type ApplicantRecord, missingSteps, type Rejection } from './applicants.js'
import type { ProviderState } from './state.js'

/** Emits an event to the client of an applicant; `fields` replace those of its body. */
export type AnnounceEvent = (
  applicant: ApplicantRecord,
  type: string,
  fields?: Readonly<Record<string, unknown>>,
) => void

/** An intermediate state before a verdict. */
export type StateOnTheWay = 'pending' | 'prechecked' | 'queued' | 'onHold' | 'awaitingUser' | 'awaitingService'

/** The event of each state. */
const eventsOfStates: Readonly<Record<StateOnTheWay, string>> = {
  pending: 'applicantPending',
  prechecked: 'applicantPrechecked',
  queued: 'applicantPrechecked',
  onHold: 'applicantOnHold',
  awaitingUser: 'applicantAwaitingUser',
  awaitingService: 'applicantAwaitingService',
}

/** Sets a verdict. It may replace an earlier one. */
export function decide(
  state: ProviderState,
  applicant: ApplicantRecord,
  rejection: Rejection | null,
  announce: AnnounceEvent,
): void {
  applicant.reviewStatus = 'completed'
  applicant.reviewedAt = state.now()
  applicant.reviewResult =
    rejection === null
      ? { reviewAnswer: 'GREEN' }
      : {
          moderationComment: rejection.moderationComment ?? 'We could not verify your profile.',
          ...(rejection.clientComment === undefined ? {} : { clientComment: rejection.clientComment }),
          reviewAnswer: 'RED',
          rejectLabels: rejection.labels ?? ['UNSATISFACTORY_PHOTOS'],
          reviewRejectType: rejection.rejectType ?? 'RETRY',
        }
  announce(applicant, 'applicantReviewed')
}

/** Moves a verification to a state. While an external service checks, the provider already shows its own GREEN. */
export function moveTo(
  state: ProviderState,
  applicant: ApplicantRecord,
  status: StateOnTheWay,
  announce: AnnounceEvent,
): void {
  applicant.reviewStatus = status
  applicant.reviewResult = status === 'awaitingService' ? { reviewAnswer: 'GREEN' } : null
  if (status === 'pending') {
    applicant.pendingSince = state.now()
    applicant.attemptCnt += 1
  }
  announce(applicant, eventsOfStates[status])
}

/** Submits the missing documents of the level; the checks begin. */
export function handIn(
  state: ProviderState,
  applicant: ApplicantRecord,
  required: readonly string[],
  announce: AnnounceEvent,
): void {
  applicant.steps = [...applicant.steps, ...missingSteps(required, applicant.steps)]
  moveTo(state, applicant, 'pending', announce)
}

/** Resets a verification. The event still carries the former verdict, as in the provider's sample. */
export function reset(state: ProviderState, applicant: ApplicantRecord, announce: AnnounceEvent): void {
  const { reviewResult } = applicant
  applicant.reviewStatus = 'init'
  applicant.steps = []
  applicant.reviewResult = null
  applicant.reviewedAt = null
  applicant.attemptId = state.newId()
  announce(applicant, 'applicantReset', reviewResult === null ? {} : { reviewResult })
}

/** Deactivates or activates an applicant. */
export function setActive(applicant: ApplicantRecord, isActive: boolean, announce: AnnounceEvent): void {
  applicant.isActive = isActive
  announce(applicant, isActive ? 'applicantActivated' : 'applicantDeactivated')
}

/** Deletes an applicant for good. */
export function remove(applicant: ApplicantRecord, announce: AnnounceEvent): void {
  announce(applicant, 'applicantDeleted')
  applicant.isDeleted = true
}
