/** Identity on a store in memory, a scripted provider and a clock that the test moves. @module */
import { expect } from 'vitest'
import { formatVerificationAssignments } from '../../../store-sql/src/identity/subjects.js'
import { pack } from '../../../store-sql/src/internal/values.js'
import { createIdentity, type IdentityDeps } from '../../src/identity/identity.js'
import type { IdentitySubject, RedemptionRecord, VerificationChange } from '../../src/identity/identity-store.js'
import { redemptionLeaseMs } from '../../src/identity/redemption.js'
import type { ProviderVerdict } from '../../src/identity/webhooks.js'
import type { AddressOwner, IdentityAccounts, Review } from '../../src/ports/identity.js'
import type { Store } from '../../src/ports/store.js'
import { parseMasterKey } from '../../src/secrets/keys.js'
import { manualClock } from './manual-clock.js'
import { recordingLogger } from './recording-logger.js'
import { type ProviderFault, scriptedProvider } from './scripted-provider.js'
import { seededRandom } from './seeded-random.js'
import { openStore } from './store.js'

export const shop = `0x${'a1'.repeat(20)}`
export const otherShop = `0x${'b2'.repeat(20)}`

/** An address that must appear nowhere. */
export const email = 'canary.user@example.com'
export const otherEmail = 'second.user@example.com'

/** The name of the first redemption of the first subject. */
export const first = 'pi:s1:1'
export const second = 'pi:s1:2'

export const review = (
  reviewStatus: Review['reviewStatus'],
  reviewAnswer: Review['reviewAnswer'] = null,
  rejectType: Review['rejectType'] = null,
): Review => ({ reviewStatus, reviewAnswer, rejectType, rejectLabels: rejectType === null ? [] : ['BLURRY'] })
export const approved = review('completed', 'GREEN')
export const rejected = review('completed', 'RED', 'RETRY')
export const begun = review('init')
export const notStarted = review('not_started')

const masterKey = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')

/** `owners`: by keyed hash. */
function hostAccounts() {
  const owners = new Map<string, AddressOwner>()
  const accounts: IdentityAccounts = { findAddressOwner: async ({ key }) => owners.get(key) ?? null }
  return { ...accounts, owners }
}

/** `hosted`: the accounts are those of a host. */
export function identitySetup({ hosted = false } = {}) {
  const clock = manualClock()
  const memory = openStore({ clock })
  const store: Store = memory
  const provider = scriptedProvider()
  const logger = recordingLogger()
  const host = hostAccounts()
  let made = 0
  const ids = { next: () => `s${++made}` }
  const random = seededRandom('identity')
  const deps: IdentityDeps = {
    ...{ store, provider, masterKey, clock, random, ids, logger, actor: 'cli:ada' },
    ...(hosted ? { accounts: host } : {}),
  }
  /** Another service on the same database. */
  const start = (overrides: Partial<IdentityDeps> = {}) => createIdentity({ ...deps, ...overrides })
  const identity = start()
  const getKey = (address: string) => identity.emailKey(address)
  const rows = (): readonly IdentitySubject[] => memory.committed.subjects
  let tokens = 0
  const shareFor = (address: string, by: string = shop, shareToken = `canary-token ${++tokens}`) =>
    identity.share({ integrationAddress: by, email: address, shareToken })

  const getSubject = async (address = email): Promise<IdentitySubject> => {
    const key = await getKey(address)
    const found = rows().find(({ emailKey, closed }) => emailKey === key && !closed)
    if (found === undefined) throw new Error(`${address} has no open subject`)
    return found
  }
  const proveAs = async (accountId: string, address: string): Promise<string> => {
    if (hosted) {
      host.owners.set(await getKey(address), { accountId, proved: true })
      await identity.reportProof({ email: address, accountId })
      return accountId
    }
    const accounts = await identity.accounts()
    await accounts.proveByCode(address, (await accounts.requestCode(address)).code, { accountId })
    return accountId
  }
  const webhook = (
    given: Review | null,
    { at = clock.now(), name = first, key, ...rest }: Partial<ProviderVerdict> & { name?: string; key?: string } = {},
  ) => {
    const applicantId = `applicant of ${name}`
    const eventKey = key ?? `event ${at} ${rest.change ?? 'review'} ${JSON.stringify(given)}`
    return identity.applyVerdict({ eventKey, applicantId, externalUserId: name, at, review: given, ...rest })
  }
  const register = async (address = email) => (await (await identity.accounts()).register(address)).accountId

  return {
    ...{ clock, store, memory, provider, logger, host, ids, deps, identity, start, getKey, getSubject, proveAs },
    ...{ register, shareFor, webhook },
    /** Shares the first address with a fresh token, unless one is given. */
    share: (by: string = shop, shareToken?: string) => shareFor(email, by, shareToken),
    direct: (accountId: string, given: Review = approved, applicantId: string | null = 'own') =>
      identity.recordDirect({ accountId, applicantId, review: given, at: clock.now() }),
    /** The shared verifications of an account, oldest subject first. */
    has: (accountId: string) =>
      rows().flatMap((each) =>
        each.accountId === accountId && each.emailKey !== null && each.applicantId !== null ? [each.applicantId] : [],
      ),
    subjectsOf: (accountId: string) => rows().filter((each) => each.accountId === accountId),
    subject: (id = 's1') => {
      const row = rows().find((each) => each.id === id)
      if (row === undefined) throw new Error(`there is no subject ${id}`)
      return row
    },
    /** Shares, and the answer is lost; the token was used, or was not. */
    async lose(fault: 'lost before' | 'lost after' = 'lost after', by: string = shop, address: string = email) {
      const before = provider.fault
      provider.fault = (call) => (call === 'redeem' ? fault : 'lost before')
      await expect(shareFor(address, by)).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
      provider.fault = before
    },
    /** Time passes until no token can land any more. */
    expire: () => clock.advance(redemptionLeaseMs),
    /** The fault of every call from now on. */
    fails: (fault: ProviderFault | null, ...calls: ('redeem' | 'find' | 'review')[]) => {
      provider.fault = (call) => (calls.length === 0 || calls.includes(call) ? fault : null)
    },
    /** Works once, while the answer to a call is on its way. */
    during(call: 'redeem' | 'find' | 'review', work: () => Promise<unknown>) {
      provider.pause = async (which) => {
        if (which !== call) return
        provider.pause = async () => undefined
        await work()
      }
    },
    /** How shares went, oldest first. */
    outcomes: () => memory.committed.shares.map(({ outcome }) => outcome),
    /** Redemptions with their integration and state, oldest first. */
    redemptions: () =>
      memory.committed.redemptions.map((each) => [each.externalUserId, each.integrationAddress, each.state]),
    states: () => memory.committed.redemptions.map(({ state }) => state),
    /** Reports about applicants with their outcome, oldest first. */
    history: () => memory.committed.verdicts.map((each) => `${each.source} ${each.change} ${each.outcome}`),
    /** The audit log: actor, action and subject. */
    audit: () => memory.committed.audit.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`),
    accountEvents: () => memory.committed.accountEvents,
    errors: () => logger.lines.filter(({ level }) => level === 'error'),
    /** Changes rows as no use case does. */
    seedSubject(id: string, change: VerificationChange) {
      const values: unknown[] = []
      const assignments = formatVerificationAssignments(change, (value) => {
        values.push(value)
        return '?'
      })
      memory.sql(`update identity_subjects set ${assignments.join(', ')} where id = ?`, ...values, pack(id))
    },
  }
}

/** A redemption of the other shop whose answer was lost, although its token was used; its lease has expired. */
export async function lostSetup(provider: { findsByName?: boolean; levelName?: string }) {
  const setup = identitySetup()
  Object.assign(setup.provider, provider)
  await setup.lose('lost after', otherShop)
  await setup.expire()
  return setup
}

/** A placeholder without a share, with the fields of a test. */
export function subjectWith(given: Partial<IdentitySubject> = {}): IdentitySubject {
  return {
    ...{ id: 's1', emailKey: 'e', accountId: null, proved: false, closed: false, redemptions: 0, revision: 0 },
    ...{ donor: null, applicantId: null, attachedNumber: null, attachedAt: null, review: null, reviewedAt: null },
    ...{ doubt: null, presence: null, missing: null },
    ...given,
  }
}

/** A redemption in flight, with the fields of a test. */
export function redemptionWith(given: Partial<RedemptionRecord> = {}): RedemptionRecord {
  return {
    ...{ externalUserId: 'pi:s1:1', subjectId: 's1', number: 1, integrationAddress: 'shop', levelName: null },
    ...{ isFindable: true, startedAt: 0, isLeased: true, state: 'in_flight', applicantId: null },
    ...given,
  } as RedemptionRecord
}
