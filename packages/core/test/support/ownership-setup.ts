/** Short steps over identity, each a use case or a call of the provider, for tests of ownership. @module */

import { approved, begun, identitySetup, rejected, review, shop } from './identity-setup.js'
import { turns } from './manual-clock.js'
import type { ProviderFault } from './scripted-provider.js'

/** Reviews by a short name. */
const reviews = { init: begun, pending: review('pending'), approved, rejected }
export type Stand = keyof typeof reviews

/** The end of a redemption: its answer, or its later discovery. */
export type End = 'redeemed' | 'refused' | 'unknown' | 'absent'

/** Addresses. */
export const [X, Y, Z] = ['x@example.com', 'y@example.com', 'z@example.com'] as const

/** Builds it. */
export function ownershipSetup() {
  const setup = identitySetup()
  const { provider, memory, clock, identity, expire, proveAs, register, shareFor } = setup
  const applicantOf = (name: string) => `applicant of ${name}`
  /** Redemptions in flight; the test ends each. */
  const inFlight = new Map<string, (end: ProviderFault | null) => Promise<unknown>>()

  /** Begins a share, which `end` answers. Resolves the name of the redemption. */
  const begin = async (address: string = X, by: string = shop): Promise<string> => {
    let answer: (fault: ProviderFault | null) => void = () => undefined
    const fault = new Promise<ProviderFault | null>((resolve) => {
      answer = resolve
    })
    const { redeem } = provider
    provider.redeem = async (request) => {
      provider.redeem = redeem
      const happens = await fault
      const before = provider.fault
      provider.fault = (call) => (call === 'redeem' || happens === null ? happens : 'lost before')
      const result = await redeem(request)
      // The look-up after a lost answer finds no applicant.
      if (happens === null) provider.fault = before
      return result
    }
    const known = memory.committed.redemptions.length
    const share = shareFor(address, by).catch((error: unknown) => error)
    for (let turn = 0; memory.committed.redemptions.length === known && turn < 20; turn += 1) await turns()
    const name = memory.committed.redemptions.at(-1)?.externalUserId
    if (name === undefined || memory.committed.redemptions.length === known)
      throw new Error(`nothing was begun: ${JSON.stringify(await share)}`)
    inFlight.set(name, async (happens) => {
      const before = provider.fault
      answer(happens)
      await share
      provider.fault = before
    })
    return name
  }

  /** A redemption ends: by its answer while it is in flight, else by a webhook or a look-up. */
  const end = async (name: string, how: End): Promise<void> => {
    const applicantId = applicantOf(name)
    const answer = inFlight.get(name)
    inFlight.delete(name)
    if (answer !== undefined) {
      if (how === 'unknown') provider.deleted.add(applicantId)
      await answer(how === 'refused' ? 'rejected' : how === 'redeemed' ? null : 'lost after')
    } else if (how === 'redeemed') {
      provider.deleted.delete(applicantId)
      await clock.advance(1)
      const event = { eventKey: `${name} ${clock.now()}`, applicantId, externalUserId: name, at: clock.now() }
      await identity.applyVerdict({ ...event, review: begun })
    } else if (how === 'absent') {
      await expire()
      await identity.pollDue()
    }
  }

  return {
    ...setup,
    begin,
    end,
    /** Shares and redeems. Resolves the applicant. */
    async redeem(address: string = X, by: string = shop) {
      const name = await begin(address, by)
      await end(name, 'redeemed')
      return applicantOf(name)
    },
    /** Shares; the token is redeemed, its answer lost, and the provider shows the applicant only when `end` says so. */
    async loseOne(address: string = X, by: string = shop) {
      const name = await begin(address, by)
      await end(name, 'unknown')
      return name
    },
    async verdict(applicantId: string, stand: Stand) {
      provider.reviews.set(applicantId, reviews[stand])
      await clock.advance(1)
      const event = { eventKey: `${applicantId} ${clock.now()}`, applicantId, externalUserId: null, at: clock.now() }
      await identity.applyVerdict({ ...event, review: reviews[stand] })
    },
    proveIt: async (address: string) => proveAs(await register(address), address),
    /** An integration attests. Resolves the account, or null where it is refused. */
    async attest(address: string, by: string) {
      const accounts = await identity.accounts()
      return accounts.proveByAttestation(address, by).then(
        ({ accountId }) => accountId,
        () => null,
      )
    },
    /** Whether a share redeems a token; `conflict` where it is 409. */
    async reuses(address: string = X, by: string = shop): Promise<boolean | 'conflict'> {
      try {
        return (await shareFor(address, by)).reused
      } catch (error) {
        if ((error as { code?: string }).code === 'ERR_VERIFICATION_UNAVAILABLE') return 'conflict'
        throw error
      }
    },
    /** The applicants of an account with their reviews, oldest subject first. */
    holds: (accountId: string) =>
      memory.committed.subjects.flatMap((each) => {
        if (each.accountId !== accountId || each.emailKey === null || each.applicantId === null) return []
        const stand = Object.entries(reviews).find(([, one]) => JSON.stringify(one) === JSON.stringify(each.review))
        return [`${each.applicantId} ${stand?.[0]}`]
      }),
    of: (name: string, stand: Stand) => `${applicantOf(name)} ${stand}`,
  }
}
