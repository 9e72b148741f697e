/** An applicant, as stored and as the provider's API shows it. @module */
import { toSeconds, toSecondsWithOffset } from './internal/times.js'

/** A verdict in the provider's format. */
export interface ReviewResult {
  readonly reviewAnswer: 'GREEN' | 'RED'
  readonly rejectLabels?: readonly string[]
  readonly reviewRejectType?: 'RETRY' | 'FINAL'
  readonly moderationComment?: string
  readonly clientComment?: string
}

/** The reason of a rejection. */
export interface Rejection {
  /** @default ['UNSATISFACTORY_PHOTOS'] */
  readonly labels?: readonly string[] | undefined
  /** @default 'RETRY' */
  readonly rejectType?: 'RETRY' | 'FINAL' | undefined
  /** Comment for the applicant. */
  readonly moderationComment?: string | undefined
  /** Comment only for the client. */
  readonly clientComment?: string | undefined
}

/** An applicant that a test adds. */
export interface NewApplicant {
  readonly clientId: string
  /** @default the first level of the client */
  readonly levelName?: string | undefined
  /** @default a new id */
  readonly externalUserId?: string | undefined
  /** Steps with data. @default all of the level */
  readonly steps?: readonly string[] | undefined
  /** @default 'approved' */
  readonly as?: 'approved' | 'rejected' | 'pending' | 'init' | undefined
}

/** An applicant as stored. */
export interface ApplicantRecord {
  readonly id: string
  readonly inspectionId: string
  readonly clientId: string
  readonly externalUserId: string
  readonly createdAt: number
  levelName: string
  steps: readonly string[]
  attemptId: string
  attemptCnt: number
  reviewStatus: string
  reviewResult: ReviewResult | null
  pendingSince: number | null
  reviewedAt: number | null
  isActive: boolean
  isDeleted: boolean
}

/** An applicant as a test sees it. */
export type ApplicantView = Readonly<
  Pick<
    ApplicantRecord,
    'id' | 'clientId' | 'externalUserId' | 'levelName' | 'steps' | 'reviewStatus' | 'reviewResult' | 'isActive'
  >
>

/** Required steps without data. */
export function missingSteps(required: readonly string[], present: readonly string[]): string[] {
  return required.filter((step) => !present.includes(step))
}

/** An applicant as a test sees it. */
export function viewOf(applicant: ApplicantRecord): ApplicantView {
  const { id, clientId, externalUserId, levelName, steps, reviewStatus, reviewResult, isActive } = applicant
  return { id, clientId, externalUserId, levelName, steps: [...steps], reviewStatus, reviewResult, isActive }
}

/** The answer of `/resources/applicants/{id}/status`, which is also the `review` of an applicant. */
export function reviewJson(applicant: ApplicantRecord, now: number): Record<string, unknown> {
  const { pendingSince, reviewedAt, reviewResult } = applicant
  return {
    reviewId: `r${applicant.inspectionId}`,
    attemptId: applicant.attemptId,
    attemptCnt: applicant.attemptCnt,
    ...(pendingSince === null ? {} : { elapsedSincePendingMs: Math.max(0, now - pendingSince) }),
    levelName: applicant.levelName,
    createDate: toSecondsWithOffset(applicant.createdAt),
    ...(reviewedAt === null ? {} : { reviewDate: toSecondsWithOffset(reviewedAt) }),
    ...(reviewResult === null ? {} : { reviewResult }),
    reviewStatus: applicant.reviewStatus,
    priority: 0,
  }
}

/** An applicant as the API answers it. Its personal data are invented. */
export function applicantJson(applicant: ApplicantRecord, now: number, showsReview = true): Record<string, unknown> {
  return {
    id: applicant.id,
    createdAt: toSeconds(applicant.createdAt),
    clientId: applicant.clientId,
    inspectionId: applicant.inspectionId,
    externalUserId: applicant.externalUserId,
    info: { firstName: 'John', firstNameEn: 'John', lastName: 'Mock-Doe', lastNameEn: 'Mock-Doe', dob: '2006-01-22' },
    applicantPlatform: 'API',
    requiredIdDocs: { docSets: applicant.steps.map((idDocSetType) => ({ idDocSetType, types: [] })) },
    ...(showsReview ? { review: reviewJson(applicant, now) } : {}),
    type: 'individual',
  }
}
