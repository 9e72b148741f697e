/** Accounts that register, prove addresses and share, processes that die, and what must be true after every transaction. @module */
import { expect } from 'vitest'
import { createAudited } from '../../src/audit/audited.js'
import { createAccountClaims } from '../../src/identity/claim-account.js'
import { claimLeaseMs } from '../../src/identity/claim-times.js'
import { createRecordDirectVerification } from '../../src/identity/direct-verification.js'
import { createEmailCodes } from '../../src/identity/email-codes.js'
import { createEmailKeys } from '../../src/identity/email-keys.js'
import { createSettle } from '../../src/identity/settle-attempt.js'
import { createShare } from '../../src/identity/share.js'
import { createVerdicts } from '../../src/identity/verdicts.js'
import type { IdentityProvider, Review } from '../../src/ports/identity-provider.js'
import type { Store } from '../../src/ports/store.js'
import type { RedemptionAttempt } from '../../src/ports/store-verifications.js'
import { parseMasterKey } from '../../src/secrets/master-key.js'
import { lockWatcher } from './lock-watcher.js'
import { manualClock } from './manual-clock.js'
import { memoryStore } from './memory-store.js'
import { createOwnerOracle } from './owner-oracle.js'
import { recordingLogger } from './recording-logger.js'
import { type ProviderFault, scriptedProvider } from './scripted-provider.js'
import { seededRandom } from './seeded-random.js'
import { approved, rejected, review } from './share-setup.js'

const steps = 30
const addresses = ['one@example.com', 'two@example.com', 'three@example.com']
const integrations = ['a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`)
const faults: readonly ProviderFault[] = [
  'lost before',
  'lost after',
  'lost after',
  'lost after',
  'rejected',
  'throttled',
  'misconfigured',
]
const begun = review('init')

/** Builds one. Everything random in it comes from the seed. */
export function createWorld(seed: number) {
  const random = seededRandom(`address walk ${seed}`)
  const chance = (of: number) => random.fraction() < of
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)] as T
  const upTo = (ms: number) => Math.floor(random.fraction() * ms)
  const clock = manualClock()
  const memory = memoryStore({ now: () => clock.now() })
  const provider = scriptedProvider(() => clock.now())
  const logger = recordingLogger()
  const emails = createEmailKeys(random.bytes(32), random)
  const keyOf = new Map(addresses.map((address) => [emails(address).key, address]))
  const nameOf = (key: string) => keyOf.get(key) ?? key
  let healthy = false
  const mortality = pick([0.02, 0.04, 0.1])
  const faulty = pick([0.1, 0.25, 0.5])
  // Few addresses and one integration meet more often.
  const near = addresses.slice(0, pick([2, 3]))
  const oneOf = pick([0.75, 1])
  const longer = pick([0.1, 0.3])
  let made = 0
  let tokens = 0
  const ids = { next: () => `id-${String(++made).padStart(4, '0')}` }
  const broken: string[] = []
  /** What was begun, for whoever reads a failure. */
  const did: string[] = []
  const broke = (what: string, detail: string) => {
    broken.push(`${what}: ${detail}`)
  }

  const watched = lockWatcher({
    broke: (detail) => broke('order', detail),
    nameOf,
    isKnown: (accountId) => memory.committed().verifications.has(accountId),
  })
  memory.beforeTransaction = () => check()
  const oracle = createOwnerOracle({ memory, broke, nameOf })

  // ---- what is true
  interface Place {
    readonly at: string
    readonly review: Review | null
    readonly claimed: boolean
    readonly isDirect: boolean
  }
  let before = new Map<string, Place>()
  let beforeResolved = new Map<string, string>()
  let beforeProved = new Map<string, Set<string>>()
  let claimedEvents = 0
  const everRejected = new Set<string>()
  function provedBy() {
    const proved = new Map<string, Set<string>>()
    for (const { action, accountId, emailKey } of memory.committed().accountEvents)
      if (action === 'claimed' && accountId !== null && emailKey !== null)
        proved.set(accountId, (proved.get(accountId) ?? new Set()).add(emailKey))
    return proved
  }
  const addressOf = (applicantId: string) => {
    const name = provider.redeemed.find((each) => each.applicantId === applicantId)?.externalUserId ?? ''
    return memory.committed().redemptions.get(name)?.emailKey
  }
  function check(strict = false): void {
    const { verifications, users, resolved, accountEvents } = memory.committed()
    const proved = provedBy()
    const has = (id: string, key: string) => proved.get(id)?.has(key) === true
    const now = new Map<string, Place>()
    for (const { accountId, applicantId, donor, review: known, claim } of verifications.values()) {
      if (applicantId === null) continue
      if (now.has(applicantId)) broke('twice', `${applicantId} at ${now.get(applicantId)?.at} and ${accountId}`)
      now.set(applicantId, { at: accountId, review: known, claimed: claim !== null, isDirect: donor === 'self' })
    }
    for (const [applicantId, { at, claimed, isDirect }] of now) {
      const key = addressOf(applicantId)
      if (isDirect || key === undefined) continue
      const what = `${applicantId} for ${nameOf(key)} at ${at}`
      const isUsers = users.has(at)
      const owner = resolved.get(key) ?? ''
      if (isUsers && (proved.get(at)?.size ?? 0) > 0 && !has(at, key) && (strict || !claimed)) broke('keeps', what)
      if (isUsers && !has(at, key) && owner !== at && (strict || !claimed))
        broke('unproved keeps', `${what}, owner ${owner}`)
    }
    oracle.check((applicantId) => before.get(applicantId)?.at)
    for (const [applicantId, was] of before) {
      const is = now.get(applicantId)
      const key = addressOf(applicantId)
      const what = `${applicantId} for ${nameOf(key ?? '')} at ${was.at}`
      if (is === undefined) {
        const there = verifications.get(was.at)
        // What a user did directly takes the place of what is not approved.
        if (there?.donor !== 'self' && !everRejected.has(applicantId) && was.review !== null) broke('lost', what)
        continue
      }
      if (is.at === was.at) continue
      if (was.isDirect || key === undefined) broke('direct moved', what)
      else if (users.has(is.at) && !has(is.at, key) && users.get(is.at)?.emailKey !== key)
        broke('to a stranger', `${what} to ${is.at}`)
      else if (beforeProved.get(was.at)?.has(key) === true && !has(is.at, key))
        broke('moved though proved', `${what} to ${is.at}`)
    }
    for (const { action, accountId, emailKey } of accountEvents.slice(claimedEvents)) {
      if (action !== 'claimed' || accountId === null || emailKey === null) continue
      const theirs = verifications.get(accountId)
      if (theirs !== undefined && (theirs.donor !== null || theirs.claim !== null)) continue
      for (const [applicantId, { at, claimed, isDirect }] of now)
        if (!isDirect && !claimed && addressOf(applicantId) === emailKey && beforeResolved.get(emailKey) === at)
          broke('not found', `${applicantId} for ${nameOf(emailKey)} at ${at} by ${accountId}`)
    }
    claimedEvents = accountEvents.length
    before = now
    const isStill = (id: string, key: string) => users.get(id) === undefined || users.get(id)?.emailKey === key
    beforeResolved = new Map([...resolved].filter(([key, id]) => isStill(id, key)))
    beforeProved = proved
  }

  // ---- who acts
  /** A point where a process may be slow, or gone for ever. */
  async function meanwhile(mortal: boolean): Promise<void> {
    if (healthy) return
    if (mortal && chance(mortality)) return new Promise(() => undefined)
    if (chance(0.5)) await clock.sleep(chance(0.03) ? 2 * claimLeaseMs : upTo(1_500))
  }
  function newStore(mortal: boolean, watch = watched): Pick<Store, 'transaction' | 'verifications'> {
    return {
      verifications: memory.verifications,
      async transaction(work) {
        await meanwhile(mortal)
        const done = await memory.transaction((tx) => work(watch(tx)))
        await meanwhile(mortal)
        return done
      },
    }
  }
  provider.fault = () => (!healthy && chance(faulty) ? pick(faults) : null)
  provider.pause = (call, half) => {
    if (healthy) return Promise.resolve()
    const isHeld = half !== 'work' && chance(0.04)
    if (call === 'find' && chance(0.3)) decide()
    return clock.sleep(upTo(isHeld ? 2 * claimLeaseMs : call === 'find' ? 12_000 : 7_000))
  }
  const accounts = {
    resolve: (email: ReturnType<typeof emails>) =>
      memory.transaction(async (tx) => ({ accountId: (await tx.identityAccounts.hold(email, ids.next())).accountId })),
  }
  const codes = createEmailCodes(Buffer.alloc(32, 1), seededRandom('codes'))
  const claims = createAccountClaims({ store: newStore(false), emails, codes, clock, ids })
  // An attestation locks more than one verification before the account that the taker's address goes to, as `docs/decisions/identity.md` says.
  const attests = createAccountClaims({ store: newStore(false, (tx) => tx), emails, codes, clock, ids })
  const common = { clock, ids, logger, holdsAddresses: true }
  const audited = createAudited({
    transaction: newStore(false).transaction,
    keys: parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'),
    clock,
    actor: 'cli:ada',
  })
  const settle = createSettle({ ...common, store: newStore(false), provider, audited })
  const direct = createRecordDirectVerification({ store: newStore(false), clock })
  const verdicts = createVerdicts({ ...common, store: newStore(false), provider })

  const codesOf = (error: unknown) => (error as { code?: string }).code ?? ''
  const failures: unknown[] = []
  const expected =
    /^ERR_(IDENTITY_UNAVAILABLE|IDENTITY_MISCONFIGURED|VERIFICATION_UNAVAILABLE|SHARE_TOKEN_REJECTED|EMAIL_PROOF)$/
  const start = (what: string, work: Promise<unknown>) => {
    did.push(`${clock.now()} ${what}`)
    void work.catch((error: unknown) => {
      if (!expected.test(codesOf(error))) failures.push(error)
    })
  }
  async function share(address: string, by: string) {
    const shareToken = `token ${++tokens}`
    const ownProvider: IdentityProvider = {
      redeem(request) {
        const {
          donor,
          applicantId,
          review: known,
        } = memory.committed().verifications.get(request.externalUserId.replace(/^pi:(.*):\d+$/, '$1')) ?? {}
        if (donor != null && known != null && !everRejected.has(applicantId ?? ''))
          broke('redeemed over', `${applicantId} by ${request.externalUserId}`)
        const { redemptions, shareAttempts } = memory.committed()
        const own = redemptions.get(request.externalUserId)
        const isSame = ({ accountId, emailKey, integrationAddress }: RedemptionAttempt) =>
          accountId === own?.accountId && emailKey === own.emailKey && integrationAddress === by
        const wasAbsent = ({ externalUserId: name }: RedemptionAttempt) =>
          shareAttempts.some(({ outcome, externalUserId }) => outcome === 'absent' && externalUserId === name)
        for (const each of redemptions.values())
          if (each.state === 'surplus' && isSame(each) && !wasAbsent(each) && !everRejected.has(each.applicantId ?? ''))
            broke('redeemed over a surplus', `${each.applicantId} by ${request.externalUserId}`)
        return provider.redeem(request)
      },
      find: (name) => provider.find(name),
      review: (id) => provider.review(id),
    }
    const answer = await createShare({ ...common, store: newStore(true), accounts, provider: ownProvider, emails })({
      integrationAddress: by,
      email: address,
      shareToken,
    })
    if (answer.reused || answer.reviewStatus === 'not_started') return answer
    const { verifications, resolved } = memory.committed()
    const row = verifications.get(resolved.get(emails(address).key) ?? '')
    const key = row?.applicantId ? addressOf(row.applicantId) : undefined
    const proved = provedBy().get(row?.accountId ?? '')
    if (proved !== undefined && key !== undefined && !proved.has(key) && key !== emails(address).key)
      broke('told', `${address} ${row?.applicantId} for ${nameOf(key)}`)
    return answer
  }
  async function prove(address: string, accountId?: string) {
    const { code } = await claims.requestCode(address)
    return claims.claimByCode(address, code, { accountId })
  }
  const users = () => [...memory.committed().users.keys()]
  function decide(): void {
    const some = provider.redeemed.length > 0 && pick(provider.redeemed)
    if (!some) return
    const { applicantId, externalUserId } = some
    const given: Review = pick([review('pending'), approved, approved, rejected, rejected])
    provider.reviews.set(applicantId, given)
    if (given === rejected) everRejected.add(applicantId)
    const at = clock.now()
    provider.reviewedAt.set(applicantId, at)
    const news = { eventKey: `${applicantId} ${at}`, applicantId, externalUserId, at, review: given }
    for (let copies = pick([0, 1, 1, 2]); copies > 0; copies -= 1) {
      const late = upTo(chance(0.3) ? 90_000 : 3_000)
      start(
        `webhook ${externalUserId} ${given.reviewAnswer}`,
        clock.sleep(late).then(() => verdicts.apply(news)),
      )
    }
  }
  async function operate(): Promise<unknown> {
    const all = [...memory.committed().redemptions.values()]
    const open = all.filter(({ state }) => ['claimed', 'unknown', 'unresolved', 'absent'].includes(state))
    if (open.length === 0) return null
    const { externalUserId } = pick(open)
    const found = provider.redeemed.find((each) => each.externalUserId === externalUserId)
    // A token that is on its way may land: who settles it as absent would say what is not so.
    if (found === undefined && !healthy) return null
    return settle({ externalUserId, applicantId: found?.applicantId ?? null })
  }
  function act(): void {
    const what = random.fraction()
    const address = pick(near)
    const by = chance(oneOf) ? (integrations[0] as string) : (integrations[1] as string)
    const who = users().length > 0 ? pick(users()) : undefined
    if (what < 0.33) start(`share ${address} ${by.slice(2, 4)}`, share(address, by))
    else if (what < 0.42 && users().length < 4) start(`register ${address}`, claims.register(address))
    else if (what < 0.62) {
      const prover = chance(0.85) ? who : undefined
      start(`prove ${address} ${prover}`, prove(address, prover))
    } else if (what < 0.65)
      start(`attest ${address} ${who}`, attests.claimByAttestation(address, by, { accountId: who }))
    else if (what < 0.83) decide()
    else if (what < 0.91) start('poll', verdicts.ask())
    else if (what < 0.95) start('operate', operate())
    else if (what < 0.965 && who !== undefined)
      start(
        `direct ${who}`,
        direct({ accountId: who, applicantId: `direct of ${who}`, review: pick([approved, begun]), at: clock.now() }),
      )
  }
  /**
   * An account's verification was rejected, another account proved the address, so it came along; then perhaps a retry whose answer is lost, for that address or another
   * one that the account proved, and news of what came along.
   */
  async function beginAlong(): Promise<void> {
    const [address, by] = [near[0] as string, integrations[0] as string]
    const within = async <T>(work: Promise<T>): Promise<T> => {
      await clock.advance(8_000)
      return work
    }
    healthy = true
    await within(claims.register(address))
    await within(share(address, by))
    const [{ applicantId, externalUserId }] = provider.redeemed as [(typeof provider.redeemed)[number]]
    provider.reviews.set(applicantId, rejected)
    everRejected.add(applicantId)
    const at = clock.now()
    provider.reviewedAt.set(applicantId, at)
    await within(verdicts.apply({ eventKey: 'along', applicantId, externalUserId, at, review: rejected }))
    const { accountId } = await within(claims.register(address))
    await within(prove(address, accountId))
    const retried = chance(0.5) ? address : (near[1] as string)
    if (retried !== address) await within(prove(retried, accountId))
    healthy = false
    if (chance(0.3)) return
    const { fault } = provider
    provider.fault = (call) => (call === 'redeem' ? 'lost after' : fault(call))
    start(`retry ${retried}`, share(retried, by))
    await clock.advance(20_000)
    provider.fault = fault
    if (chance(0.5)) return
    const turned = pick([approved, review('pending')])
    const news = { eventKey: 'turned', applicantId, externalUserId, at: clock.now(), review: turned }
    provider.reviews.set(applicantId, turned)
    provider.reviewedAt.set(applicantId, clock.now())
    start(`webhook ${externalUserId} turned`, verdicts.apply(news))
  }

  return {
    async live() {
      if (chance(0.3)) await beginAlong()
      for (let step = 0; step < steps; step += 1) {
        act()
        await clock.advance(chance(longer) ? upTo(2 * claimLeaseMs) : chance(0.01) ? upTo(26 * 3_600_000) : upTo(8_000))
        expect(failures).toEqual([])
        expect(broken.join('\n'), did.join('\n')).toBe('')
        expect(provider.mostInFlight(), 'redemptions at a time').toBeLessThanOrEqual(1)
      }
    },
    /** Once the faults are over everything is where it belongs. */
    async heal() {
      healthy = true
      await clock.advance(5 * claimLeaseMs)
      for (let round = 0; round < 4; round += 1) {
        start('poll', verdicts.ask())
        await clock.advance(61 * 60_000)
      }
      check(true)
      expect(broken.join('\n'), did.join('\n')).toBe('')
      for (const address of addresses) {
        const { accountId } = await claims.register(address)
        await prove(address, accountId)
        check(true)
      }
      expect([...memory.committed().verifications.values()].filter(({ claim }) => claim !== null)).toEqual([])
      expect(broken.join('\n'), did.join('\n')).toBe('')
      expect(failures).toEqual([])
    },
  }
}
