/** An applicant: how it is kept, and how the provider's API shows it. @module */
import { toSeconds, toSecondsWithOffset } from './internal/times.js'

/** A verdict, as the provider writes it. */
export interface ReviewResult {
  readonly reviewAnswer: 'GREEN' | 'RED'
  readonly rejectLabels?: readonly string[]
  readonly reviewRejectType?: 'RETRY' | 'FINAL'
  readonly moderationComment?: string
  readonly clientComment?: string
}

/** Why an applicant is rejected. */
export interface Rejection {
  /** @default ['UNSATISFACTORY_PHOTOS'] */
  readonly labels?: readonly string[] | undefined
  /** @default 'RETRY' */
  readonly rejectType?: 'RETRY' | 'FINAL' | undefined
  /** What the applicant may read. */
  readonly moderationComment?: string | undefined
  /** What only the client may read. */
  readonly clientComment?: string | undefined
}

/** An applicant that a test adds. */
export interface NewApplicant {
  readonly clientId: string
  /** @default the first level of the client */
  readonly levelName?: string | undefined
  /** @default a new id */
  readonly externalUserId?: string | undefined
  /** Steps that hold data. @default all of the level */
  readonly steps?: readonly string[] | undefined
  /** @default 'approved' */
  readonly as?: 'approved' | 'rejected' | 'pending' | 'init' | undefined
}

/** An applicant as the provider keeps it. */
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

/** What a test sees of an applicant. */
export type ApplicantView = Readonly<
  Pick<
    ApplicantRecord,
    'id' | 'clientId' | 'externalUserId' | 'levelName' | 'steps' | 'reviewStatus' | 'reviewResult' | 'isActive'
  >
>

/** Steps that are asked for and not there. */
export function missingSteps(asked: readonly string[], present: readonly string[]): string[] {
  return asked.filter((step) => !present.includes(step))
}

/** What a test sees of an applicant. */
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

/**
 * An applicant as the API answers it. It holds personal data, as the provider's answers do; nobody of that name exists.
 */
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
