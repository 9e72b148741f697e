import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { memoryIdentityAccounts } from '../../test/support/memory-identity-accounts.js'
import { memoryStore } from '../../test/support/memory-store.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { type ProviderFault, scriptedProvider } from '../../test/support/scripted-provider.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { approved, email, rejected, review } from '../../test/support/share-setup.js'
import type { IdentityProvider, Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import { claimLeaseMs } from './claim-times.js'
import { createEmailKeys } from './email-keys.js'
import { createShare } from './share.js'
import { createVerdicts } from './verdicts.js'

const runs = process.env['CI'] === undefined ? 60 : 1_000
const firstSeed = Number(process.env['SEED'] ?? 1)
const integrations = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}`)
const faults: readonly ProviderFault[] = ['lost before', 'lost after', 'rejected', 'throttled', 'misconfigured']
const begun = review('init')

test.each(Array.from({ length: runs }, (_, n) => firstSeed + n))(
  'requests, crashes, faults and webhooks in any order: seed %i',
  async (seed) => {
    const world = createWorld(seed)
    await world.live()
    await world.heal()
  },
)

/** One account, and what happens to it. */
function createWorld(seed: number) {
  const random = seededRandom(`interleavings ${seed}`)
  const chance = (of: number) => random.fraction() < of
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)] as T
  const upTo = (ms: number) => Math.floor(random.fraction() * ms)
  const clock = manualClock()
  const store = memoryStore({ now: () => clock.now() })
  const provider = scriptedProvider(() => clock.now())
  const logger = recordingLogger()
  const accounts = memoryIdentityAccounts()
  const emails = createEmailKeys(random.bytes(32), random)
  /** Whose each token is. */
  const owners = new Map<string, string>()
  /** Tokens that more than one request gave. */
  const shared = new Set<string>()
  /** Applicants that the provider ever rejected. */
  const everRejected = new Set<string>()
  let healthy = false
  let made = 0
  const ids = { next: () => `id ${++made}` }
  const verdicts = createVerdicts({ store, provider, clock, ids, logger })
  provider.fault = () => (!healthy && chance(0.3) ? pick(faults) : null)
  provider.pause = (_, half) => {
    const isHeld = !healthy && half !== 'work' && chance(0.04)
    return clock.sleep(upTo(isHeld ? 2 * claimLeaseMs : 7_000))
  }

  /** A point where a process may be slow, suspended, or gone for ever. */
  async function meanwhile(mortal: boolean): Promise<void> {
    if (healthy) return
    if (mortal && chance(0.04)) return new Promise(() => undefined)
    await clock.sleep(chance(0.03) ? 2 * claimLeaseMs : upTo(1_500))
  }

  /** The store and the provider as one request sees them. */
  function newProcess() {
    const ownStore: Pick<Store, 'transaction'> = {
      async transaction(work) {
        await meanwhile(true)
        const done = await store.transaction(work)
        await meanwhile(true)
        return done
      },
    }
    const dies = async <T>(answer: Promise<T>): Promise<T> => {
      const value = await answer
      if (!healthy && chance(0.04)) return new Promise(() => undefined)
      return value
    }
    const ownProvider: IdentityProvider = {
      redeem(request) {
        for (const { applicantId } of provider.redeemed)
          expect(everRejected, `redeemed over ${applicantId}`).toContain(applicantId)
        return dies(provider.redeem(request))
      },
      find: (name) => dies(provider.find(name)),
      review: (applicantId) => dies(provider.review(applicantId)),
    }
    return createShare({ store: ownStore, accounts, provider: ownProvider, emails, clock, ids, logger })
  }

  const failures: unknown[] = []
  async function request(by: string, retried?: string): Promise<void> {
    const shareToken = retried ?? `canary-token ${owners.size + 1}`
    owners.set(shareToken, by)
    if (retried !== undefined) shared.add(retried)
    const isRedeemed = () => provider.redeemed.some((each) => each.shareToken === shareToken)
    try {
      const answer = await newProcess()({ integrationAddress: by, email, shareToken })
      if (answer.reused) expect(isRedeemed()).toBe(true)
      else if (!shared.has(shareToken)) expect(isRedeemed()).toBe(false)
    } catch (error) {
      const { code } = error as { code?: string }
      // A request that was refused for good has not cost its token.
      if (code === 'ERR_VERIFICATION_UNAVAILABLE' || code === 'ERR_SHARE_TOKEN_REJECTED') {
        if (!shared.has(shareToken)) expect(isRedeemed()).toBe(false)
      } else if (code !== 'ERR_IDENTITY_UNAVAILABLE' && code !== 'ERR_IDENTITY_MISCONFIGURED') throw error
    }
  }
  const start = (work: Promise<unknown>) => void work.catch((error: unknown) => failures.push(error))

  /** The provider decides about its newest applicant, and may tell so: at once, late, twice or never. */
  function decide(): void {
    const newest = provider.redeemed.at(-1)
    if (newest === undefined) return
    const { applicantId, externalUserId } = newest
    const given: Review = pick([review('pending'), review('onHold'), approved, rejected, rejected])
    provider.reviews.set(applicantId, given)
    if (given === rejected) everRejected.add(applicantId)
    const at = clock.now()
    const news = { eventKey: `${applicantId} ${at}`, applicantId, externalUserId, at, review: given }
    for (let copies = pick([0, 1, 1, 2]); copies > 0; copies -= 1)
      start(clock.sleep(upTo(90_000)).then(() => verdicts.apply(news)))
  }

  async function state() {
    return store.transaction((tx) => tx.verifications.lock('account-1'))
  }
  return {
    async live() {
      for (let step = 0; step < 30; step += 1) {
        const what = random.fraction()
        const by = pick(integrations)
        const own = [...owners].flatMap(([token, owner]) => (owner === by ? [token] : []))
        if (what < 0.5) start(request(by, own.length > 0 && chance(0.3) ? pick(own) : undefined))
        else if (what < 0.75) decide()
        else if (what < 0.85) start(verdicts.ask())
        await clock.advance(upTo(chance(0.2) ? 60_000 : 6_000))
        expect(provider.mostInFlight(), 'redemptions at a time').toBeLessThanOrEqual(1)
        expect(failures).toEqual([])
      }
    },
    /** Once the faults are over nobody is stuck, and all is told as it is. */
    async heal() {
      healthy = true
      await clock.advance(5 * claimLeaseMs)
      const claimant = (await state()).claim?.by ?? pick(integrations)
      const before = provider.redeemed.length
      start(request((await state()).donor ?? claimant))
      await clock.advance(claimLeaseMs)
      const { donor, applicantId, claim } = await state()
      const newest = provider.redeemed.at(-1)
      expect(claim).toBeNull()
      expect(newest).toMatchObject({ applicantId })
      expect(donor).toBe(owners.get(newest?.shareToken ?? ''))
      expect(provider.redeemed.length - before).toBeLessThanOrEqual(1)
      expect(provider.mostInFlight()).toBeLessThanOrEqual(1)
      await clock.advance(2 * 24 * 60 * 60_000)
      start(verdicts.ask())
      await clock.advance(60_000)
      expect((await state()).review).toEqual(provider.reviews.get(applicantId ?? '') ?? begun)
      expect(failures).toEqual([])
      const { verifications, shareAttempts, providerEvents } = store.committed()
      const kept = JSON.stringify([[...verifications], shareAttempts, [...providerEvents], logger.lines])
      expect(kept).not.toMatch(/canary/i)
    },
  }
}
