import type { IdentityProvider, Redemption, Review } from '../../src/ports/identity-provider.js'

/** What goes wrong with a call: the provider never sees it, does it and its answer is lost, or refuses it. */
export type ProviderFault = 'lost before' | 'lost after' | 'rejected' | 'throttled' | 'misconfigured'

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
  /** Most redemptions under way for one name's account at a time. */
  mostInFlight(): number
  /** Says what happens to the next call of that kind; asked at every call. */
  fault: (call: 'redeem' | 'find' | 'review') => ProviderFault | null
  /** Runs while a call is under way, before and after the provider does its work. */
  pause: (call: 'redeem' | 'find' | 'review', half: 'request' | 'answer') => Promise<void>
  /** What applicants are said to stand at; absent: nothing is said with a redemption, and `init` when asked. */
  readonly reviews: Map<string, Review | null>
}

const lost = { kind: 'unknown', reason: 'no answer' } as const
const begun: Review = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }

/** Builds it. @param accountOf - The account in an external user id. */
export function scriptedProvider(accountOf = (name: string) => name.replace(/-\d+$/, '')): ScriptedProvider {
  const calls: string[] = []
  const redeemed: Redeemed[] = []
  const reviews = new Map<string, Review | null>()
  const inFlight = new Map<string, number>()
  let most = 0
  const provider: ScriptedProvider = {
    calls,
    redeemed,
    reviews,
    mostInFlight: () => most,
    fault: () => null,
    pause: async () => undefined,
    async redeem({ shareToken, externalUserId }) {
      const fault = provider.fault('redeem')
      calls.push(`redeem ${externalUserId}`)
      const account = accountOf(externalUserId)
      const now = (inFlight.get(account) ?? 0) + 1
      inFlight.set(account, now)
      most = Math.max(most, now)
      try {
        await provider.pause('redeem', 'request')
        const answer = fault === 'lost before' ? lost : (refusalOf(fault) ?? work(shareToken, externalUserId))
        await provider.pause('redeem', 'answer')
        return fault === 'lost after' ? lost : answer
      } finally {
        inFlight.set(account, (inFlight.get(account) ?? 1) - 1)
      }
    },
    async find(externalUserId) {
      const fault = provider.fault('find')
      calls.push(`find ${externalUserId}`)
      await provider.pause('find', 'request')
      const found = redeemed.find((each) => each.externalUserId === externalUserId)
      await provider.pause('find', 'answer')
      const refusal = refusalOf(fault)
      if (refusal !== null && refusal.kind !== 'rejected') return refusal
      if (fault !== null) return { kind: 'unavailable', reason: 'no answer' }
      const value = found && { applicantId: found.applicantId, review: reviews.get(found.applicantId) ?? null }
      return { kind: 'answer', value: value ?? null }
    },
    async review(applicantId) {
      const fault = provider.fault('review')
      calls.push(`review ${applicantId}`)
      await provider.pause('review', 'request')
      const value = reviews.has(applicantId) ? (reviews.get(applicantId) ?? null) : begun
      await provider.pause('review', 'answer')
      const refusal = refusalOf(fault)
      if (refusal !== null && refusal.kind !== 'rejected') return refusal
      return fault === null ? { kind: 'answer', value } : { kind: 'unavailable', reason: 'no answer' }
    },
  }

  function work(shareToken: string, externalUserId: string): Redemption {
    if (redeemed.some((each) => each.externalUserId === externalUserId))
      return { kind: 'unknown', reason: 'a conflict with what is there already' }
    if (redeemed.some((each) => each.shareToken === shareToken))
      return { kind: 'rejected', message: 'Token is invalid', providerCode: 401 }
    const applicantId = `applicant of ${externalUserId}`
    redeemed.push({ shareToken, externalUserId, applicantId })
    return { kind: 'redeemed', applicant: { applicantId, review: reviews.get(applicantId) ?? null } }
  }
  return provider
}

function refusalOf(fault: ProviderFault | null) {
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
