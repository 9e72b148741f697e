/**
 * Mints and checks single-use share tokens. Source: the provider's page on generating a share token.
 * @module
 */
import { Refusal } from './errors.js'
import { toWords } from './internal/times.js'
import type { ProviderClient } from './options.js'
import { applicantOf, type ProviderState, type ShareToken } from './state.js'

const defaultTtlInSecs = 1_200

/**
 * Mints a share token for a partner. The redemption, not the minting, checks that the applicant is approved.
 *
 * @throws Refusal 400 for missing or malformed fields and for a client without partnership, 404 for an unknown
 * applicant.
 */
export function mint(state: ProviderState, donor: ProviderClient, field: (name: string) => unknown): ShareToken {
  const applicantId = field('applicantId')
  const forClientId = field('forClientId')
  if (!isText(applicantId) || !isText(forClientId))
    throw new Refusal(400, "'applicantId' and 'forClientId' must be provided for creating a share token")
  const applicant = applicantOf(state, donor, applicantId)
  if (!(donor.partners ?? []).includes(forClientId)) throw new Refusal(400, 10501)
  const ttl = String(field('ttlInSecs') ?? defaultTtlInSecs)
  const ttlInSecs = /^\d{1,15}$/.test(ttl) ? Number(ttl) : 0
  if (ttlInSecs < 1) throw new Refusal(400, "Invalid value of 'ttlInSecs'")
  const id = `_act-${state.newId()}`
  const shareToken: ShareToken = {
    token: [{ alg: 'none' }, { jti: id, url: 'https://api.sumsub.com' }].map(encode).join(''),
    id,
    applicantId: applicant.id,
    donorClientId: donor.clientId,
    forClientId,
    createdAt: state.now(),
    ttlInSecs,
    usedAt: null,
  }
  state.shareTokens.set(shareToken.token, shareToken)
  return shareToken
}

/** The token while it is redeemable. @throws Refusal 401 when it is malformed, expired or used. */
export function usableToken(state: ProviderState, text: string): ShareToken {
  const shareToken = state.shareTokens.get(text)
  if (shareToken === undefined) throw new Refusal(401, 'Token is invalid: Malformed token')
  const { id, createdAt, ttlInSecs, usedAt } = shareToken
  const now = state.now()
  if (usedAt === null && now < createdAt + ttlInSecs * 1_000) return shareToken
  const times = `created at ${toWords(createdAt)} with ttl ${ttlInSecs} but accessed at ${toWords(now)}`
  throw new Refusal(401, `Token is invalid: Token ${id} is invalid now: ${times} [source: null]`)
}

function encode(part: object): string {
  return `${Buffer.from(JSON.stringify(part)).toString('base64url')}.`
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
