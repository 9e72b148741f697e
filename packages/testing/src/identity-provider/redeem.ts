/** Mints and redeems share tokens. Source: the provider's pages on share tokens, reuse and copying. @module */
import type { ApplicantRecord, ProviderState, Redemption, ShareToken } from './applicants.js'
import {
  buildApplicant,
  findApplicant,
  findMissingSteps,
  findSteps,
  formatUtc,
  requireApplicant,
  requireClient,
} from './applicants.js'
import { defaultLevels, type ProviderClient, ProviderRejection } from './authenticate.js'

const defaultTtlInSecs = 1_200

type GetField = (name: 'applicantId' | 'forClientId' | 'ttlInSecs') => unknown

/** Mints a share token. The redemption, not the minting, checks that the applicant is approved. */
export function mint(state: ProviderState, donor: ProviderClient, getField: GetField): ShareToken {
  const [applicantId, forClientId] = [getField('applicantId'), getField('forClientId')]
  if (!isFilledText(applicantId) || !isFilledText(forClientId))
    throw new ProviderRejection(400, "'applicantId' and 'forClientId' must be provided for creating a share token")
  const applicant = requireApplicant(state, donor, applicantId)
  if (!(donor.partners ?? []).includes(forClientId)) throw new ProviderRejection(400, 10501)
  const ttl = String(getField('ttlInSecs') ?? defaultTtlInSecs)
  const ttlInSecs = /^\d{1,15}$/.test(ttl) ? Number(ttl) : 0
  if (ttlInSecs < 1) throw new ProviderRejection(400, "Invalid value of 'ttlInSecs'")
  const id = `_act-${state.newId()}`
  const shareToken: ShareToken = {
    token: [{ alg: 'none' }, { jti: id, url: 'https://api.sumsub.com' }].map(encodeTokenPart).join(''),
    id,
    applicantId: applicant.id,
    donorClientId: donor.clientId,
    forClientId,
    createdAt: state.clock.now(),
    ttlInSecs,
    usedAt: null,
  }
  state.shareTokens.set(shareToken.token, shareToken)
  return shareToken
}

function encodeTokenPart(part: object): string {
  return `${Buffer.from(JSON.stringify(part)).toString('base64url')}.`
}

function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Reuses a verification. A rejected token stays unused. @throws ProviderRejection 401, 404, 409, 400 (10501-10512) */
export function redeemByReuse(state: ProviderState, client: ProviderClient, query: URLSearchParams): ApplicantRecord {
  const shareToken = requireToken(state, client, query)
  if (client.reuseDisabled) throw new ProviderRejection(400, 10505)
  const levelName = query.get('levelName') ?? ''
  const required = findSteps(client, levelName)
  if (required === null) throw new ProviderRejection(404, `Level ${levelName} not found`)
  const donor = requireDonor(state, shareToken)
  if (!donor.isActive) throw new ProviderRejection(400, 10508)
  if (donor.reviewStatus !== 'completed' || donor.reviewResult?.reviewAnswer !== 'GREEN')
    throw new ProviderRejection(400, 10507)
  const shared = required.filter((step) => donor.steps.includes(step))
  if (shared.length === 0) throw new ProviderRejection(400, 10512)
  const externalUserId = query.get('userId') || `copy-${state.newId()}`
  const existing = findApplicant(state, client, externalUserId)
  if (existing !== undefined)
    throw new ProviderRejection(
      409,
      `Applicant with external user id '${externalUserId}' already exists: ${existing.id}`,
    )
  // The checks begin if the shared steps cover the level.
  const coversLevel = findMissingSteps(required, shared).length === 0
  return storeRedemption(state, shareToken, 'reuse', {
    ...buildApplicant(state, { clientId: client.clientId, externalUserId, levelName }),
    steps: shared,
    ...(coversLevel ? { attemptCnt: 1, reviewStatus: 'pending', pendingSince: state.clock.now() } : {}),
  })
}

/** Copies an applicant. The provider chooses the copy's external user id; the copy stays in the state `init`. */
export function redeemByCopy(state: ProviderState, client: ProviderClient, query: URLSearchParams): ApplicantRecord {
  const shareToken = requireToken(state, client, query)
  if (client.copyDisabled) throw new ProviderRejection(400, 10518)
  const levelName = Object.keys(client.levels ?? defaultLevels)[0] ?? ''
  const externalUserId = `copy-${state.newId()}`
  return storeRedemption(state, shareToken, 'import', {
    ...buildApplicant(state, { clientId: client.clientId, externalUserId, levelName }),
    steps: requireDonor(state, shareToken).steps,
  })
}

function storeRedemption(state: ProviderState, token: ShareToken, by: Redemption['by'], applicant: ApplicantRecord) {
  const at = state.clock.now()
  token.usedAt = at
  state.applicants.set(applicant.id, applicant)
  const { id: applicantId, clientId, externalUserId } = applicant
  state.redemptions.push({ token: token.token, by, clientId, externalUserId, applicantId, at })
  state.announce({ ...applicant, reviewStatus: 'init' }, 'applicantCreated')
  if (applicant.reviewStatus === 'pending') state.announce(applicant, 'applicantPending')
  return applicant
}

/** The token of a redemption. @throws ProviderRejection 401 for a malformed, expired or used token, else 400. */
function requireToken(state: ProviderState, client: ProviderClient, query: URLSearchParams): ShareToken {
  const text = query.get('shareToken') ?? ''
  if (text === '') throw new ProviderRejection(400, "'shareToken' must be provided")
  const shareToken = state.shareTokens.get(text)
  if (shareToken === undefined) throw new ProviderRejection(401, 'Token is invalid: Malformed token')
  const { id, createdAt, ttlInSecs, usedAt } = shareToken
  const now = state.clock.now()
  if (usedAt !== null || now >= createdAt + ttlInSecs * 1_000) {
    const times = `created at ${formatUtc(createdAt)} with ttl ${ttlInSecs} but accessed at ${formatUtc(now)}`
    throw new ProviderRejection(401, `Token is invalid: Token ${id} is invalid now: ${times} [source: null]`)
  }
  if (shareToken.forClientId !== client.clientId) throw new ProviderRejection(400, 10502)
  if (!(client.partners ?? []).includes(shareToken.donorClientId)) throw new ProviderRejection(400, 10501)
  return shareToken
}

function requireDonor(state: ProviderState, { applicantId, donorClientId }: ShareToken): ApplicantRecord {
  const donor = state.applicants.get(applicantId)
  if (donor === undefined || donor.isDeleted || requireClient(state, donorClientId).clientId !== donor.clientId)
    throw new ProviderRejection(400, 10508)
  return donor
}
