/** Applicants and their verifications, in storage and in the provider's API. @module */
import { defaultLevels, type ProviderClient, ProviderRejection } from './authenticate.js'

/** `2025-08-05 15:31:57` */
function formatSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/** `2025-08-05 15:31:57+0000` */
export function formatWithOffset(ms: number): string {
  return `${formatSeconds(ms)}+0000`
}

/** `2025-08-05 15:31:57.321` */
export function formatWithMilliseconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
}

/** `Tue Aug 05 15:31:57 UTC 2025` */
export function formatUtc(ms: number): string {
  const [weekday, day, month, year, time] = new Date(ms).toUTCString().split(/,? /)
  return `${weekday} ${month} ${day} ${time} UTC ${year}`
}

/** A verdict in the provider's format. */
export interface ReviewResult {
  readonly reviewAnswer: 'GREEN' | 'RED'
  readonly rejectLabels?: readonly string[]
  readonly reviewRejectType?: 'RETRY' | 'FINAL'
  readonly moderationComment?: string
  readonly clientComment?: string
}

export interface Rejection {
  /** @default ['UNSATISFACTORY_PHOTOS'] */
  readonly labels?: readonly string[] | undefined
  /** @default 'RETRY' */
  readonly rejectType?: 'RETRY' | 'FINAL' | undefined
  /** A comment for the applicant. */
  readonly moderationComment?: string | undefined
  /** A comment only for the client. */
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

export type ApplicantRecord = ReturnType<typeof buildApplicant>

type ApplicantNames = Readonly<Record<'clientId' | 'externalUserId' | 'levelName', string>>

/** An applicant whose check has not begun. */
export function buildApplicant({ newId, clock }: Pick<ProviderState, 'newId' | 'clock'>, names: ApplicantNames) {
  return {
    ...names,
    id: newId(),
    inspectionId: newId(),
    createdAt: clock.now(),
    steps: [] as readonly string[],
    attemptId: newId(),
    attemptCnt: 0,
    reviewStatus: 'init',
    reviewResult: null as ReviewResult | null,
    pendingSince: null as number | null,
    reviewedAt: null as number | null,
    isActive: true,
    isDeleted: false,
  }
}

/** An applicant as a test sees it. */
export type ApplicantView = Readonly<ReturnType<typeof toView>>

export function findMissingSteps(required: readonly string[], present: readonly string[]): string[] {
  return required.filter((step) => !present.includes(step))
}

export function toView(applicant: ApplicantRecord) {
  const { id, clientId, externalUserId, levelName, steps, reviewStatus, reviewResult, isActive } = applicant
  return { id, clientId, externalUserId, levelName, steps: [...steps], reviewStatus, reviewResult, isActive }
}

/** The answer of `/resources/applicants/{id}/status`, which is also the `review` of an applicant. */
export function toReviewJson(applicant: ApplicantRecord, now: number): Record<string, unknown> {
  const { pendingSince, reviewedAt, reviewResult } = applicant
  return {
    reviewId: `r${applicant.inspectionId}`,
    attemptId: applicant.attemptId,
    attemptCnt: applicant.attemptCnt,
    ...(pendingSince === null ? {} : { elapsedSincePendingMs: Math.max(0, now - pendingSince) }),
    levelName: applicant.levelName,
    createDate: formatWithOffset(applicant.createdAt),
    ...(reviewedAt === null ? {} : { reviewDate: formatWithOffset(reviewedAt) }),
    ...(reviewResult === null ? {} : { reviewResult }),
    reviewStatus: applicant.reviewStatus,
    priority: 0,
  }
}

/** An applicant in the form of the API. The personal data are invented. */
export function toApplicantJson(applicant: ApplicantRecord, now: number, showsReview = true): Record<string, unknown> {
  return {
    id: applicant.id,
    createdAt: formatSeconds(applicant.createdAt),
    clientId: applicant.clientId,
    inspectionId: applicant.inspectionId,
    externalUserId: applicant.externalUserId,
    info: { firstName: 'John', firstNameEn: 'John', lastName: 'Mock-Doe', lastNameEn: 'Mock-Doe', dob: '2006-01-22' },
    applicantPlatform: 'API',
    requiredIdDocs: { docSets: applicant.steps.map((idDocSetType) => ({ idDocSetType, types: [] })) },
    ...(showsReview ? { review: toReviewJson(applicant, now) } : {}),
    type: 'individual',
  }
}

export interface ShareToken {
  /** The text of the token. */
  readonly token: string
  /** The token's id, which error descriptions name. */
  readonly id: string
  readonly applicantId: string
  readonly donorClientId: string
  readonly forClientId: string
  readonly createdAt: number
  readonly ttlInSecs: number
  usedAt: number | null
}

/** A redeemed share token with its applicant. */
export interface Redemption {
  readonly token: string
  readonly by: 'reuse' | 'import'
  readonly clientId: string
  readonly externalUserId: string
  readonly applicantId: string
  /** Unix time in milliseconds. */
  readonly at: number
}

export interface ProviderState {
  readonly clients: ReadonlyMap<string, ProviderClient>
  readonly applicants: Map<string, ApplicantRecord>
  readonly shareTokens: Map<string, ShareToken>
  readonly redemptions: Redemption[]
  readonly clock: { now(): number }
  readonly newId: () => string
  /** Emits an event to the client of an applicant; `fields` replace fields of the body. */
  announce(applicant: ApplicantRecord, type: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Finds a client by id. @throws RangeError When there is none, because a test passed a wrong id. */
export function requireClient(state: ProviderState, clientId: string): ProviderClient {
  const client = state.clients.get(clientId)
  if (client === undefined) throw new RangeError(`There is no client ${clientId}; the provider was started without it.`)
  return client
}

/** Steps of a level, or null when the client has no such level. */
export function findSteps(client: ProviderClient, levelName: string): readonly string[] | null {
  const levels = client.levels ?? defaultLevels
  return Object.hasOwn(levels, levelName) ? (levels[levelName] ?? null) : null
}

/** @throws ProviderRejection 404 for unknown, deleted and other clients' applicants. */
export function requireApplicant(state: ProviderState, client: ProviderClient, applicantId: string): ApplicantRecord {
  const applicant = state.applicants.get(applicantId)
  if (applicant === undefined || applicant.isDeleted || applicant.clientId !== client.clientId)
    throw new ProviderRejection(404, 'Applicant not found')
  return applicant
}

export function findApplicant(state: ProviderState, client: ProviderClient, externalUserId: string) {
  return [...state.applicants.values()].find(
    (each) => each.clientId === client.clientId && each.externalUserId === externalUserId && !each.isDeleted,
  )
}

/** An intermediate state before a verdict. */
export type IntermediateState = 'pending' | 'prechecked' | 'queued' | 'onHold' | 'awaitingUser' | 'awaitingService'

const eventTypes: Readonly<Record<IntermediateState, string>> = {
  pending: 'applicantPending',
  prechecked: 'applicantPrechecked',
  queued: 'applicantPrechecked',
  onHold: 'applicantOnHold',
  awaitingUser: 'applicantAwaitingUser',
  awaitingService: 'applicantAwaitingService',
}

/** Sets a verdict. It may replace an earlier one. */
export function setVerdict(state: ProviderState, applicant: ApplicantRecord, rejection: Rejection | null): void {
  applicant.reviewStatus = 'completed'
  applicant.reviewedAt = state.clock.now()
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
  state.announce(applicant, 'applicantReviewed')
}

/** Moves a verification to a state. While an external service checks, the provider already shows its own GREEN. */
export function setReviewState(state: ProviderState, applicant: ApplicantRecord, status: IntermediateState): void {
  applicant.reviewStatus = status
  applicant.reviewResult = status === 'awaitingService' ? { reviewAnswer: 'GREEN' } : null
  if (status === 'pending') {
    applicant.pendingSince = state.clock.now()
    applicant.attemptCnt += 1
  }
  state.announce(applicant, eventTypes[status])
}

/** Resets a verification. The event still carries the former verdict, as in the provider's sample. */
export function resetReview(state: ProviderState, applicant: ApplicantRecord): void {
  const { reviewResult } = applicant
  applicant.reviewStatus = 'init'
  applicant.steps = []
  applicant.reviewResult = null
  applicant.reviewedAt = null
  applicant.attemptId = state.newId()
  state.announce(applicant, 'applicantReset', reviewResult === null ? {} : { reviewResult })
}
