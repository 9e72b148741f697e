/**
 * What happens to a verification, and which event says so. Source: the provider's pages on statuses and on user
 * verification webhooks.
 * @module
 */
import { type ApplicantRecord, missingSteps, type Rejection } from './applicants.js'
import type { ProviderState } from './state.js'

/** Tells the client of an applicant that something happened; `fields` replace those of the event's body. */
export type AnnounceEvent = (
  applicant: ApplicantRecord,
  type: string,
  fields?: Readonly<Record<string, unknown>>,
) => void

/** A state on the way to a verdict. */
export type StateOnTheWay = 'pending' | 'prechecked' | 'queued' | 'onHold' | 'awaitingUser' | 'awaitingService'

/** The event that announces each. */
const eventsOfStates: Readonly<Record<StateOnTheWay, string>> = {
  pending: 'applicantPending',
  prechecked: 'applicantPrechecked',
  queued: 'applicantPrechecked',
  onHold: 'applicantOnHold',
  awaitingUser: 'applicantAwaitingUser',
  awaitingService: 'applicantAwaitingService',
}

/** Sets a verdict. It may follow an earlier one: a check can be taken back. */
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

/** Moves a verification on. While a service of others is asked, the provider already shows its own GREEN. */
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

/** The person hands in what the level still asks for; the checks begin. */
export function handIn(
  state: ProviderState,
  applicant: ApplicantRecord,
  asked: readonly string[],
  announce: AnnounceEvent,
): void {
  applicant.steps = [...applicant.steps, ...missingSteps(asked, applicant.steps)]
  moveTo(state, applicant, 'pending', announce)
}

/** Begins anew. The event still carries the former verdict, as the provider's own sample does. */
export function reset(state: ProviderState, applicant: ApplicantRecord, announce: AnnounceEvent): void {
  const { reviewResult } = applicant
  applicant.reviewStatus = 'init'
  applicant.steps = []
  applicant.reviewResult = null
  applicant.reviewedAt = null
  applicant.attemptId = state.newId()
  announce(applicant, 'applicantReset', reviewResult === null ? {} : { reviewResult })
}

/** Switches an applicant off, or on again. */
export function setActive(applicant: ApplicantRecord, isActive: boolean, announce: AnnounceEvent): void {
  applicant.isActive = isActive
  announce(applicant, isActive ? 'applicantActivated' : 'applicantDeactivated')
}

/** Deletes an applicant for good. */
export function remove(applicant: ApplicantRecord, announce: AnnounceEvent): void {
  announce(applicant, 'applicantDeleted')
  applicant.isDeleted = true
}
