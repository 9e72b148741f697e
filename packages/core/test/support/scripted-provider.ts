import type { IdentityProvider, ProviderAnswer, RedeemResult, Review } from '../../src/ports/identity.js'

/** The fault of a call: lost before the provider, carried out with a lost answer, or rejected. */
export type ProviderFault = 'lost after' | keyof typeof faults
type Call = 'redeem' | 'find' | 'review'

const lost = { kind: 'unknown', reason: 'no answer' } as const
const faults = {
  'lost before': lost,
  rejected: { kind: 'rejected', message: 'Token has expired', providerCode: 10_501 },
  throttled: { kind: 'throttled', retryAfterMs: 7_000 },
  misconfigured: { kind: 'misconfigured', reason: 'the signature' },
} as const
const begun: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

/** A provider in memory, as its documentation has it: a token is good once, and a name is given once. */
export function scriptedProvider() {
  const script = {
    /** Every call in order: `redeem name` and so on. */
    calls: [] as string[],
    redeemed: [] as { shareToken: string; externalUserId: string; applicantId: string }[],
    /** Returns the fault of the next call of that kind; called at every call. */
    fault: (() => null) as (call: Call) => ProviderFault | null,
    /** Runs while the answer to a call is on its way. */
    pause: (async () => undefined) as (call: Call) => Promise<unknown>,
    /** Says of an applicant when it was made; absent: nothing is said. */
    madeAt: new Map<string, number>(),
    /** Deleted applicants: their id and name are unknown from then on. */
    deleted: new Set<string>(),
    /** Whether an applicant can be found by the name that it was to get. */
    findsByName: true,
    /** The level that is asked for, and the one that applicants have. */
    levelName: null as string | null,
    /** When verdicts were given; absent: nothing is said. */
    reviewedAt: new Map<string, number>(),
    /** The reviews of applicants; absent: none in a redemption's answer, and `init` in a poll. */
    reviews: new Map<string, Review | null>(),
  }
  const { calls, redeemed, reviews, deleted } = script

  const getApplicant = (applicantId: string) => ({
    ...{ applicantId, review: reviews.get(applicantId) ?? null, levelName: script.levelName },
    reviewedAt: script.reviewedAt.get(applicantId) ?? null,
    createdAt: script.madeAt.get(applicantId) ?? null,
  })
  function redeem(shareToken: string, externalUserId: string): RedeemResult {
    if (redeemed.some((each) => each.externalUserId === externalUserId))
      return { kind: 'unknown', reason: 'a conflict with existing data' }
    if (redeemed.some((each) => each.shareToken === shareToken))
      return { kind: 'rejected', message: 'Token is invalid', providerCode: 401 }
    const applicantId = `applicant of ${externalUserId}`
    redeemed.push({ shareToken, externalUserId, applicantId })
    return { kind: 'redeemed', applicant: getApplicant(applicantId) }
  }
  async function ask<T>(call: 'find' | 'review', name: string, answer: () => T): Promise<ProviderAnswer<T>> {
    const fault = script.fault(call)
    calls.push(`${call} ${name}`)
    const value = answer()
    await script.pause(call)
    if (fault === null) return { kind: 'answer', value }
    if (fault === 'throttled' || fault === 'misconfigured') return faults[fault]
    return { kind: 'unavailable', reason: 'no answer' }
  }
  const provider: IdentityProvider = {
    async redeem({ shareToken, externalUserId }) {
      const fault = script.fault('redeem')
      calls.push(`redeem ${externalUserId}`)
      const isCarriedOut = fault === null || fault === 'lost after'
      const answer = isCarriedOut ? redeem(shareToken, externalUserId) : faults[fault]
      await script.pause('redeem')
      return fault === 'lost after' ? lost : answer
    },
    find: (externalUserId) =>
      ask('find', externalUserId, () => {
        const isNamed = ({ externalUserId: name, applicantId }: (typeof redeemed)[number]) =>
          name === externalUserId && !deleted.has(applicantId)
        const found = script.findsByName ? redeemed.find(isNamed) : undefined
        return found === undefined ? null : getApplicant(found.applicantId)
      }),
    review: (applicantId) =>
      ask('review', applicantId, () => {
        const known = reviews.has(applicantId) ? reviews.get(applicantId) : begun
        if (known == null || deleted.has(applicantId)) return null
        const { reviewedAt, levelName } = getApplicant(applicantId)
        return { review: known, reviewedAt, levelName }
      }),
  }
  return Object.assign(script, provider)
}
