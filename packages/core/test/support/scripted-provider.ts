import type { IdentityProvider, RedeemResult, Review } from '../../src/ports/identity.js'

/** The fault of a call: lost before the provider, carried out with a lost answer, or refused. */
export type ProviderFault = 'lost before' | 'lost after' | 'rejected' | 'throttled' | 'misconfigured'

/** Where a call stops: before it is signed, before it arrives, while the provider works, or before its answer. */
export type ProviderHalf = 'signature' | 'request' | 'work' | 'answer'

/** A token that was redeemed. */
export interface Redeemed {
  readonly shareToken: string
  readonly externalUserId: string
  readonly applicantId: string
}

/** A provider in memory, as its documentation has it: a token is good once, and a name is given once. */
export interface ScriptedProvider extends IdentityProvider {
  /** Every call in order: `redeem name` and so on. */
  readonly calls: readonly string[]
  readonly redeemed: readonly Redeemed[]
  /** Most redemptions of one person that the provider worked at at a time. */
  maxInFlight(): number
  /** Returns the fault of the next call of that kind; called at every call. */
  fault: (call: 'redeem' | 'find' | 'review') => ProviderFault | null
  /** Runs while a call is in flight. */
  pause: (call: 'redeem' | 'find' | 'review', half: ProviderHalf) => Promise<void>
  /** Says of an applicant when it was made; absent: nothing is said. */
  readonly madeAt: Map<string, number>
  /** Deleted applicants: their id and name are unknown from then on. */
  readonly deleted: Set<string>
  /** Whether an applicant can be found by the name that it was to get. */
  findsByName: boolean
  /** The level that is asked for, and the one that applicants have. */
  levelName: string | null
  /** When verdicts were given; absent: nothing is said. */
  readonly reviewedAt: Map<string, number>
  /** The reviews of applicants; absent: none in a redemption's answer, and `init` in a poll. */
  readonly reviews: Map<string, Review | null>
}

const expired = { kind: 'misconfigured', reason: 'the signature is too old' } as const
const lost = { kind: 'unknown', reason: 'no answer' } as const
const begun: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

/** How old a signature may be, in milliseconds. */
const signedForMs = 60_000

/** Builds it. @param now - Unix milliseconds. @param personOf - The person in an external user id; else its subject. */
export function scriptedProvider(
  now: () => number = () => 0,
  personOf = (name: string) => name.replace(/:\d+$/, ''),
): ScriptedProvider {
  const calls: string[] = []
  const redeemed: Redeemed[] = []
  const reviews = new Map<string, Review | null>()
  const madeAt = new Map<string, number>()
  const reviewedAt = new Map<string, number>()
  const deleted = new Set<string>()
  const inFlight = new Map<string, number>()
  let most = 0
  const provider: ScriptedProvider = {
    ...{ calls, redeemed, reviews, madeAt, reviewedAt, deleted, findsByName: true, levelName: null },
    maxInFlight: () => most,
    fault: () => null,
    pause: async () => undefined,
    async redeem({ shareToken, externalUserId, sendBy }) {
      const fault = provider.fault('redeem')
      await provider.pause('redeem', 'signature')
      const signedAt = now()
      if (signedAt > sendBy) return { kind: 'unsent' }
      calls.push(`redeem ${externalUserId}`)
      await provider.pause('redeem', 'request')
      if (now() - signedAt > signedForMs) return expired
      const person = personOf(externalUserId)
      const under = (inFlight.get(person) ?? 0) + 1
      inFlight.set(person, under)
      most = Math.max(most, under)
      // From here on the provider works, also if the caller is gone.
      await provider.pause('redeem', 'work')
      const answer = fault === 'lost before' ? lost : (getRefusal(fault) ?? work(shareToken, externalUserId))
      inFlight.set(person, (inFlight.get(person) ?? 1) - 1)
      await provider.pause('redeem', 'answer')
      return fault === 'lost after' ? lost : answer
    },
    async find(externalUserId) {
      const fault = provider.fault('find')
      calls.push(`find ${externalUserId}`)
      await provider.pause('find', 'request')
      const found = redeemed.find((each) => each.externalUserId === externalUserId && !deleted.has(each.applicantId))
      await provider.pause('find', 'answer')
      const refusal = getRefusal(fault)
      if (refusal !== null && refusal.kind !== 'rejected') return refusal
      if (fault !== null) return { kind: 'unavailable', reason: 'no answer' }
      const isFound = found !== undefined && provider.findsByName
      return { kind: 'answer', value: isFound ? getApplicant(found.applicantId) : null }
    },
    async review(applicantId) {
      const fault = provider.fault('review')
      calls.push(`review ${applicantId}`)
      await provider.pause('review', 'request')
      const stored = reviews.has(applicantId) ? (reviews.get(applicantId) ?? null) : begun
      const value = deleted.has(applicantId) ? null : stored
      await provider.pause('review', 'answer')
      const refusal = getRefusal(fault)
      if (refusal !== null && refusal.kind !== 'rejected') return refusal
      if (fault !== null) return { kind: 'unavailable', reason: 'no answer' }
      const { levelName } = provider
      const dated = value && { review: value, reviewedAt: reviewedAt.get(applicantId) ?? null, levelName }
      return { kind: 'answer', value: dated }
    },
  }

  function work(shareToken: string, externalUserId: string): RedeemResult {
    if (redeemed.some((each) => each.externalUserId === externalUserId))
      return { kind: 'unknown', reason: 'a conflict with what is there already' }
    if (redeemed.some((each) => each.shareToken === shareToken))
      return { kind: 'rejected', message: 'Token is invalid', providerCode: 401 }
    const applicantId = `applicant of ${externalUserId}`
    redeemed.push({ shareToken, externalUserId, applicantId })
    return { kind: 'redeemed', applicant: getApplicant(applicantId) }
  }
  function getApplicant(applicantId: string) {
    return {
      ...{ applicantId, review: reviews.get(applicantId) ?? null, reviewedAt: reviewedAt.get(applicantId) ?? null },
      ...{ createdAt: madeAt.get(applicantId) ?? null, levelName: provider.levelName },
    }
  }
  return provider
}

function getRefusal(fault: ProviderFault | null) {
  switch (fault) {
    case 'rejected':
      return { kind: 'rejected', message: 'Token has expired', providerCode: 10_501 } as const
    case 'throttled':
      return { kind: 'throttled', retryAfterMs: 7_000 } as const
    case 'misconfigured':
      return { kind: 'misconfigured', reason: 'the signature' } as const
    default:
      return null
  }
}
