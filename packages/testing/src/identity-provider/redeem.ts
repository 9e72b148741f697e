/**
 * Redeeming a share token: by reuse, with the checks of a level, or by copying, without them.
 * Source: the provider's pages on reusing an applicant, on simulating it, and on copying an applicant profile.
 * @module
 */
import { type ApplicantRecord, missingSteps } from './applicants.js'
import { Refusal } from './errors.js'
import { clientDefaults, type ProviderClient } from './options.js'
import type { AnnounceEvent } from './reviews.js'
import { usableToken } from './share-tokens.js'
import { applicantNamed, clientOf, type ProviderState, type ShareToken, stepsOf } from './state.js'

/** Makes an applicant that holds no data yet. */
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
 * Says what reusing would make, and changes nothing.
 * @throws Refusal 401 for the token, 404 for the level, 409 for a name that is taken, 400 with 10501 to 10512.
 */
export function previewReuse(state: ProviderState, client: ProviderClient, query: URLSearchParams): ApplicantRecord {
  const shareToken = tokenFor(state, client, query)
  if (client.reuseDisabled) throw new Refusal(400, 10505)
  const levelName = query.get('levelName') ?? ''
  const asked = stepsOf(client, levelName)
  if (asked === null) throw new Refusal(404, `Level ${levelName} not found`)
  const donor = donorOf(state, shareToken)
  if (!donor.isActive) throw new Refusal(400, 10508)
  if (donor.reviewStatus !== 'completed' || donor.reviewResult?.reviewAnswer !== 'GREEN') throw new Refusal(400, 10507)
  const shared = asked.filter((step) => donor.steps.includes(step))
  if (shared.length === 0) throw new Refusal(400, 10512)
  const externalUserId = query.get('userId') || `copy-${state.newId()}`
  const taken = applicantNamed(state, client, externalUserId)
  if (taken !== undefined)
    throw new Refusal(409, `Applicant with external user id '${externalUserId}' already exists: ${taken.id}`)
  const isWhole = missingSteps(asked, shared).length === 0
  return {
    ...newApplicant(state, { clientId: client.clientId, externalUserId, levelName }),
    steps: shared,
    ...(isWhole ? { attemptCnt: 1, reviewStatus: 'pending', pendingSince: state.now() } : {}),
  }
}

/**
 * Reuses a verification. With every step of the level covered the checks begin; with some, documents are requested.
 * @throws Refusal As {@link previewReuse}; nothing is used up then.
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
 * Copies an applicant. The page on it names one parameter, the token: the copy has a name of the provider's choice and
 * waits at `init`.
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
