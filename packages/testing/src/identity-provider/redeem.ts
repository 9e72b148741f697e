/**
 * Redeems a share token: by reuse, with the checks of a level, or by copying, without them.
 * Source: the provider's pages on reusing an applicant, on simulating it, and on copying an applicant profile.
 * @module
 */
import { type ApplicantRecord, missingSteps } from './applicants.js'
import { Refusal } from './errors.js'
import { clientDefaults, type ProviderClient } from './options.js'
import type { AnnounceEvent } from './reviews.js'
import { usableToken } from './share-tokens.js'
import { applicantNamed, clientOf, type ProviderState, type ShareToken, stepsOf } from './state.js'

/** Makes an applicant without data. */
export function newApplicant(
  state: ProviderState,
  { clientId, externalUserId, levelName }: { clientId: string; externalUserId: string; levelName: string },
): ApplicantRecord {
  return {
    id: state.newId(),
    inspectionId: state.newId(),
    clientId,
    externalUserId,
    createdAt: state.now(),
    levelName,
    steps: [],
    attemptId: state.newId(),
    attemptCnt: 0,
    reviewStatus: 'init',
    reviewResult: null,
    pendingSince: null,
    reviewedAt: null,
    isActive: true,
    isDeleted: false,
  }
}

/**
 * Returns the result of a reuse without changing anything.
 * @throws Refusal 401 for the token, 404 for the level, 409 for a taken name, 400 with 10501 to 10512.
 */
export function previewReuse(state: ProviderState, client: ProviderClient, query: URLSearchParams): ApplicantRecord {
  const shareToken = tokenFor(state, client, query)
  if (client.reuseDisabled) throw new Refusal(400, 10505)
  const levelName = query.get('levelName') ?? ''
  const required = stepsOf(client, levelName)
  if (required === null) throw new Refusal(404, `Level ${levelName} not found`)
  const donor = donorOf(state, shareToken)
  if (!donor.isActive) throw new Refusal(400, 10508)
  if (donor.reviewStatus !== 'completed' || donor.reviewResult?.reviewAnswer !== 'GREEN') throw new Refusal(400, 10507)
  const shared = required.filter((step) => donor.steps.includes(step))
  if (shared.length === 0) throw new Refusal(400, 10512)
  const externalUserId = query.get('userId') || `copy-${state.newId()}`
  const existing = applicantNamed(state, client, externalUserId)
  if (existing !== undefined)
    throw new Refusal(409, `Applicant with external user id '${externalUserId}' already exists: ${existing.id}`)
  const isWhole = missingSteps(required, shared).length === 0
  return {
    ...newApplicant(state, { clientId: client.clientId, externalUserId, levelName }),
    steps: shared,
    ...(isWhole ? { attemptCnt: 1, reviewStatus: 'pending', pendingSince: state.now() } : {}),
  }
}

/**
 * Reuses a verification. If it covers every step of the level, the checks begin; otherwise documents are requested.
 * @throws Refusal As {@link previewReuse}; then the token stays unused.
 */
export function reuse(
  state: ProviderState,
  client: ProviderClient,
  query: URLSearchParams,
  announce: AnnounceEvent,
): ApplicantRecord {
  const applicant = previewReuse(state, client, query)
  return keep(state, { applicant, by: 'reuse', token: query.get('shareToken') ?? '' }, announce)
}

/**
 * Copies an applicant. The provider's page has one parameter, the token: the provider names the copy, which waits at
 * `init`.
 *
 * @throws Refusal 401 for the token, 400 with 10501, 10502 and 10518.
 */
export function copy(
  state: ProviderState,
  client: ProviderClient,
  query: URLSearchParams,
  announce: AnnounceEvent,
): ApplicantRecord {
  const shareToken = tokenFor(state, client, query)
  if (client.copyDisabled) throw new Refusal(400, 10518)
  const levelName = Object.keys(client.levels ?? clientDefaults.levels)[0] ?? ''
  const externalUserId = `copy-${state.newId()}`
  const applicant = {
    ...newApplicant(state, { clientId: client.clientId, externalUserId, levelName }),
    steps: donorOf(state, shareToken).steps,
  }
  return keep(state, { applicant, by: 'import', token: shareToken.token }, announce)
}

function keep(
  state: ProviderState,
  { applicant, by, token }: { applicant: ApplicantRecord; by: 'reuse' | 'import'; token: string },
  announce: AnnounceEvent,
): ApplicantRecord {
  const at = state.now()
  usableToken(state, token).usedAt = at
  state.applicants.set(applicant.id, applicant)
  const { id: applicantId, clientId, externalUserId } = applicant
  state.redemptions.push({ token, by, clientId, externalUserId, applicantId, at })
  announce({ ...applicant, reviewStatus: 'init' }, 'applicantCreated')
  if (applicant.reviewStatus === 'pending') announce(applicant, 'applicantPending')
  return applicant
}

function tokenFor(state: ProviderState, client: ProviderClient, query: URLSearchParams): ShareToken {
  const text = query.get('shareToken') ?? ''
  if (text === '') throw new Refusal(400, "'shareToken' must be provided")
  const shareToken = usableToken(state, text)
  if (shareToken.forClientId !== client.clientId) throw new Refusal(400, 10502)
  if (!(client.partners ?? []).includes(shareToken.donorClientId)) throw new Refusal(400, 10501)
  return shareToken
}

function donorOf(state: ProviderState, { applicantId, donorClientId }: ShareToken): ApplicantRecord {
  const donor = state.applicants.get(applicantId)
  if (donor === undefined || donor.isDeleted || clientOf(state, donorClientId).clientId !== donor.clientId)
    throw new Refusal(400, 10508)
  return donor
}
