/** Random users, process kills and lost answers for identity, with the invariants. @module */
import { expect, test } from 'vitest'
import { redemptionLeaseMs } from '../../src/identity/redemption.js'
import { isRejected } from '../../src/identity/reviews.js'
import type { IdentityProvider } from '../../src/ports/identity-provider.js'
import type { Store } from '../../src/ports/store.js'
import type { StoreTransaction } from '../../src/ports/store-transaction.js'
import { approved, identitySetup, rejected, review } from './identity-setup.js'
import type { ProviderFault } from './scripted-provider.js'
import { seededRandom } from './seeded-random.js'

const addresses = ['canary.one@example.com', 'canary.two@example.com', 'canary.three@example.com']
const integrations = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}`)
const faults: readonly ProviderFault[] = [
  'lost before',
  'lost after',
  'lost after',
  'rejected',
  'throttled',
  'misconfigured',
]
const expected =
  /^ERR_(IDENTITY_UNAVAILABLE|IDENTITY_MISCONFIGURED|VERIFICATION_UNAVAILABLE|SHARE_TOKEN_REJECTED|EMAIL_PROOF)$/
const day = 24 * 60 * 60_000

/** Registers a test for each seed. */
export function testInterleavings({ from, count }: { readonly from: number; readonly count: number }): void {
  test.each(Array.from({ length: count }, (_, index) => from + index))(
    'one token of a person is in flight at most, and nothing redeemed is lost: seed %i',
    async (seed) => {
      const { live, heal } = interleavingSetup(seed)
      await live()
      await heal()
    },
  )
}

/** Builds one. Everything random in it comes from the seed. */
export function interleavingSetup(seed: number) {
  const random = seededRandom(`interleavings ${seed}`)
  const chance = (of: number) => random.fraction() < of
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)] as T
  const upTo = (ms: number) => Math.floor(random.fraction() * ms)
  const setup = identitySetup()
  const { clock, memory, provider, identity, start, store } = setup
  const near = addresses.slice(0, pick([1, 2, 3]))
  const by = integrations.slice(0, pick([1, 2, 3]))
  const mortality = pick([0, 0.02, 0.06])
  const faulty = pick([0.1, 0.3, 0.5])
  let healthy = false
  /** The started steps, to read in a failure. */
  const did: string[] = []
  const failures: unknown[] = []
  const broken: string[] = []
  /** The owner of each token, and tokens of several requests. */
  const tokens = new Map<string, string>()
  const repeated = new Set<string>()

  provider.fault = () => (!healthy && chance(faulty) ? pick(faults) : null)
  provider.pause = (_, half) => {
    if (healthy) return Promise.resolve()
    return clock.sleep(upTo(half !== 'work' && chance(0.04) ? 2 * redemptionLeaseMs : 7_000))
  }
  const run = (what: string, work: Promise<unknown>) => {
    did.push(`${clock.now()} ${what}`)
    work.then(
      () => did.push(`${clock.now()} ${what}: done`),
      (error: { code?: string }) => {
        did.push(`${clock.now()} ${what}: ${error.code ?? String(error)}`)
        if (!expected.test(error.code ?? '')) failures.push(error)
      },
    )
  }

  // ---- processes
  /** A point where a process may be slow, suspended, or gone for ever. */
  async function meanwhile(): Promise<void> {
    if (healthy) return
    if (chance(mortality)) return new Promise(() => undefined)
    await clock.sleep(chance(0.03) ? 2 * redemptionLeaseMs : upTo(1_500))
  }
  async function mortal<T>(work: () => Promise<T>): Promise<T> {
    await meanwhile()
    const value = await work()
    await meanwhile()
    return value
  }
  /** No token of a person is sent while another is in flight or unknown, or while a verification is not rejected. */
  async function judgeRedemption({ identity: tx }: StoreTransaction, name: string, subjectId: string): Promise<void> {
    const person = await tx.lockPersons({ subjectId })
    const subjectIds = person.map(({ id }) => id)
    const open = await tx.openRedemptions({ subjectIds, absentSince: Number.MAX_SAFE_INTEGER, limit: 100 })
    for (const { externalUserId, state } of open) broken.push(`${name} while ${externalUserId} is ${state}`)
    const own = person.find(({ id }) => id === subjectId)
    if (own?.donor != null && own.review !== null && !isRejected(own.review))
      broken.push(`${name} over ${own.applicantId}`)
    if (person.some(({ emailKey }) => emailKey === null)) broken.push(`${name} over a direct verification`)
  }
  const transaction: Store['transaction'] = (work) =>
    mortal(() =>
      store.transaction((tx) => {
        const addRedemption: typeof tx.identity.addRedemption = async (redemption) => {
          await judgeRedemption(tx, redemption.externalUserId, redemption.subjectId)
          await tx.identity.addRedemption(redemption)
        }
        return work({ ...tx, identity: { ...tx.identity, addRedemption } })
      }),
    )
  const ownProvider: IdentityProvider = {
    redeem: (request) => mortal(() => provider.redeem(request)),
    find: (name) => mortal(() => provider.find(name)),
    review: (applicantId) => mortal(() => provider.review(applicantId)),
  }
  const process = () => start({ store: { ...store, transaction }, provider: ownProvider })

  // ---- the steps
  async function share(address: string, integrationAddress: string, retried?: string): Promise<void> {
    const shareToken = retried ?? `canary-token ${tokens.size + 1}`
    tokens.set(shareToken, integrationAddress)
    if (retried !== undefined) repeated.add(retried)
    const isRedeemed = () => provider.redeemed.some((each) => each.shareToken === shareToken)
    try {
      const { reused } = await process().share({ integrationAddress, email: address, shareToken })
      if (reused !== isRedeemed() && !repeated.has(shareToken)) broken.push(`${shareToken} was answered ${reused}`)
    } catch (error) {
      // A request that was refused for good has not used its token.
      const isRefused = (error as { code?: string }).code === 'ERR_SHARE_TOKEN_REJECTED'
      if (isRefused && isRedeemed() && !repeated.has(shareToken)) broken.push(`${shareToken} was refused`)
      throw error
    }
  }
  /** The provider decides about one of its applicants, and may report it: at once, late, twice or never. */
  function decide(): void {
    const [applicant] = provider.redeemed.length === 0 ? [] : [pick(provider.redeemed)]
    if (applicant === undefined) return
    const { applicantId, externalUserId } = applicant
    const given = pick([review('pending'), review('onHold'), approved, rejected, rejected])
    provider.reviews.set(applicantId, given)
    provider.reviewedAt.set(applicantId, clock.now())
    const at = clock.now()
    const event = { eventKey: `${applicantId} ${at}`, applicantId, externalUserId, at, review: given }
    for (let copies = pick([0, 1, 1, 2]); copies > 0; copies -= 1)
      run(
        `webhook ${externalUserId} ${given.reviewAnswer ?? given.reviewStatus}`,
        clock.sleep(upTo(90_000)).then(() => process().applyVerdict(event)),
      )
  }
  const users = () => [...memory.committed().users.keys()]
  async function prove(address: string, accountId: string | undefined): Promise<void> {
    const accounts = await process().accounts()
    const { code } = await (await identity.accounts()).requestCode(address)
    await accounts.proveByCode(address, code, { accountId })
  }
  const act = () => {
    const what = random.fraction()
    const [address, integration] = [pick(near), pick(by)]
    const own = [...tokens].flatMap(([token, owner]) => (owner === integration ? [token] : []))
    const account = users().length > 0 && chance(0.8) ? pick(users()) : undefined
    if (what < 0.45)
      run(`share ${address}`, share(address, integration, own.length > 0 && chance(0.3) ? pick(own) : undefined))
    else if (what < 0.62) decide()
    else if (what < 0.72) run('poll', process().pollDue())
    else if (what < 0.8 && users().length < 4) run(`register ${address}`, setup.register(address))
    else if (what < 0.95) run(`prove ${address} ${account}`, prove(address, account))
    else if (account !== undefined && chance(0.3)) run(`direct ${account}`, setup.direct(account, rejected, null))
  }

  // ---- the invariants
  const owners = new Map<string, string | null>()
  function check(): void {
    const { subjects, users: accounts, accountEvents } = memory.committed()
    for (const { id, emailKey, accountId, proved } of subjects.values()) {
      if (emailKey === null) continue
      const hasProved = accountEvents.some(
        (event) => event.action === 'proved' && event.accountId === accountId && event.emailKey === emailKey,
      )
      if (proved && !hasProved) broken.push(`${id} is ${accountId}’s, which never proved its address`)
      if (!proved && accountId !== null && accounts.get(accountId)?.emailKey !== emailKey)
        broken.push(`${id} is ${accountId}’s, which does not carry its address`)
      const before = owners.get(id)
      if (before !== undefined && before !== accountId)
        broken.push(`${id} was proved by ${before}, and is ${accountId}’s`)
      if (proved) owners.set(id, accountId)
    }
    const where = `seed ${seed}\n${did.join('\n')}`
    expect(broken, where).toEqual([])
    expect(failures, where).toEqual([])
    expect(provider.mostInFlight(), where).toBeLessThanOrEqual(1)
  }
  return {
    async live(steps = 30) {
      for (let step = 0; step < steps; step += 1) {
        act()
        await clock.advance(upTo(chance(0.2) ? 60_000 : 6_000))
        check()
      }
    },
    /** Once the faults end every outcome is known, nothing redeemed is lost, and every review is the provider’s. */
    async heal() {
      healthy = true
      await clock.advance(5 * redemptionLeaseMs)
      for (let days = 0; days < 3; days += 1) {
        await identity.pollDue()
        await clock.advance(day)
      }
      check()
      const { redemptions, subjects, shares, verdicts } = memory.committed()
      const where = `seed ${seed}\n${did.join('\n')}`
      for (const { externalUserId, state } of redemptions.values()) {
        const isRedeemed = provider.redeemed.some((each) => each.externalUserId === externalUserId)
        expect(isRedeemed ? ['attached', 'surplus'] : ['absent', 'refused'], `${externalUserId} ${where}`).toContain(
          state,
        )
      }
      for (const { applicantId, review: known, emailKey } of subjects.values())
        if (applicantId !== null && emailKey !== null)
          expect(known, `${applicantId} ${where}`).toEqual(provider.reviews.get(applicantId) ?? review('init'))
      const stored = JSON.stringify([[...subjects], [...redemptions], shares, verdicts, setup.logger.lines])
      expect(stored).not.toMatch(/canary/i)
    },
  }
}
