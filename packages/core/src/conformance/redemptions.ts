/** Tests: attempts that may have sent a token, what the provider said, and applicants that are missing. Source: DESIGN section 5.4. @module */
import { expect } from 'vitest'
import type { Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { StoreTransaction } from '../ports/store-transaction.js'
import type {
  RedemptionAttempt,
  RedemptionState,
  ShareAttempt,
  VerdictEntry,
  VerificationChange,
} from '../ports/store-verifications.js'
import { epoch, otherShop, shop } from './fixtures.js'
import { changeVerification, lockVerification } from './steps-of-verifications.js'
import { type StoreTest, withAnother } from './subject.js'

/** Text that databases are known to spoil: ids of hosts and of the provider may be any. */
const odd = '\u0000 "%\' \ud800'
const id = `account ${odd}`
const keyOf = (n: number) => n.toString(16).padStart(64, '0')
const rejected: Review = {
  reviewStatus: 'completed',
  reviewAnswer: 'RED',
  rejectType: 'RETRY',
  rejectLabels: [odd, 'BLURRY'],
}
const claimed = { token: 'token', by: shop, externalUserId: `${id}-1` }
const logged = (changes: Partial<ShareAttempt> = {}): ShareAttempt => ({
  ...{ at: epoch, integrationAddress: otherShop, emailKey: keyOf(1), accountId: id },
  ...{ outcome: 'claimed', externalUserId: null, providerCode: null },
  ...changes,
})
const redemption = (changes: Partial<RedemptionAttempt> = {}): RedemptionAttempt => ({
  externalUserId: `${id}-1`,
  accountId: id,
  number: 1,
  integrationAddress: shop,
  emailKey: keyOf(1),
  levelName: `basic ${odd}`,
  isFindable: true,
  claimedAt: epoch,
  replaces: null,
  takenBy: null,
  state: 'claimed',
  applicantId: null,
  ...changes,
})
const verdict = (changes: Partial<VerdictEntry> = {}): VerdictEntry => ({
  notedAt: epoch + 5,
  accountId: id,
  applicantId: `applicant ${odd}`,
  source: 'webhook',
  news: 'review',
  at: epoch,
  review: rejected,
  outcome: 'applied',
  ...changes,
})

const lock = (store: Store, accountId = id) => lockVerification(store, accountId)
const change = (store: Store, changes: VerificationChange, accountId = id) =>
  changeVerification(store, changes, accountId)
const add = (store: Store, ...attempts: RedemptionAttempt[]) =>
  store.transaction(async (tx) => {
    for (const each of attempts) await tx.verifications.addRedemption(each)
  })
const found = (store: Store, externalUserId: string) =>
  store.transaction((tx) => tx.verifications.redemption(externalUserId))
const end = (store: Store, state: RedemptionState, applicantId?: string) =>
  store.transaction((tx) => tx.verifications.endRedemption(`${id}-1`, state, applicantId))
const doubtful = (
  store: Store,
  query: { accountId?: string; afterNumber?: number; absentSince?: number; limit?: number } = {},
) =>
  store.transaction(async (tx) => {
    const all = { accountId: id, afterNumber: 0, absentSince: 0, limit: 10, ...query }
    return (await tx.verifications.doubtfulRedemptions(all)).map(({ number }) => number)
  })

/** What `two` finds of an applicant, asked when `one` has changed it and goes on for some statements more. */
async function waiting(
  one: Store,
  two: Store,
  named: { readonly applicantId: string; readonly externalUserId: string },
  change: (tx: StoreTransaction) => Promise<void>,
) {
  let seen: ReturnType<StoreTransaction['verifications']['lockByApplicant']> | undefined
  await one.transaction(async (tx) => {
    await change(tx)
    seen ??= two.transaction((other) => other.verifications.lockByApplicant(named))
    for (let statement = 0; statement < 10; statement += 1) await tx.verifications.redemption(named.externalUserId)
  })
  return seen
}

/** Registers the tests. */
export function redemptionTests(test: StoreTest): void {
  test('a verification is found by the address that its applicant was redeemed for, whichever account has it', async ({
    store,
  }) => {
    const applicantId = `applicant ${odd}`
    await add(store, redemption())
    await end(store, 'attached', applicantId)
    for (const accountId of ['mover', 'another']) await lock(store, accountId)
    await change(store, { donor: shop, applicantId }, 'mover')
    const listed = async (emailKey: string) =>
      (await store.verifications.list({ emailKey, limit: 10 })).map(({ accountId }) => accountId)
    expect(await listed(keyOf(1))).toEqual(['mover'])
    expect(await listed(keyOf(2))).toEqual([])
  })

  test('an applicant is found by its id, else by the name of an attempt, whatever became of it', async ({ store }) => {
    const find = (applicantId: string, externalUserId: string | null = null) =>
      store.transaction((tx) => tx.verifications.lockByApplicant({ applicantId, externalUserId }))
    const { externalUserId } = redemption()
    await change(store, { applicantId: odd, claim: { ...claimed, leaseMs: 0 } })
    await change(store, { applicantId: 'other' }, 'another')
    await add(store, redemption())
    const own = await lock(store)
    expect(await find(odd)).toStrictEqual({ verification: own, attempt: null })
    expect(await find(odd, externalUserId)).toStrictEqual({ verification: own, attempt: redemption() })
    expect(await find('unknown', externalUserId)).toStrictEqual({ verification: own, attempt: redemption() })
    // The name of another account's attempt says nothing of it.
    expect(await find('other', externalUserId)).toStrictEqual({
      verification: await lock(store, 'another'),
      attempt: null,
    })
    expect(await find('unknown')).toBeNull()
    expect(await find('unknown', '')).toBeNull()
    expect(await find('', null)).toBeNull()
    await change(store, { claim: null })
    for (const state of ['unknown', 'unresolved', 'absent', 'refused', 'foreign', 'surplus', 'attached'] as const) {
      await end(store, state)
      expect((await find('unknown', externalUserId))?.attempt, state).toStrictEqual(redemption({ state }))
    }
  })

  test('the verification of an applicant is read where it is attached', async ({ store }) => {
    const read = (applicantId: string) => store.transaction((tx) => tx.verifications.ofApplicant(applicantId))
    await change(store, { donor: shop, applicantId: odd, claim: { ...claimed, leaseMs: 0 } })
    await lock(store, 'another')
    expect(await read(odd)).toStrictEqual(await lock(store))
    for (const unknown of ['unknown', '']) expect(await read(unknown)).toBeNull()
    await change(store, { applicantId: null })
    expect(await read(odd)).toBeNull()
  })

  test('who looks for an applicant while its attempt ends by attaching it finds it', async (subject) => {
    await withAnother(subject, async ([one, two]) => {
      for (let round = 0; round < 10; round += 1) {
        const named = { applicantId: `applicant ${round}`, externalUserId: `name ${round}` }
        const accountId = `attached ${round}`
        await add(subject.store, redemption({ externalUserId: named.externalUserId, accountId }))
        await lock(subject.store, accountId)
        const [seen] = await Promise.all([
          two?.transaction((tx) => tx.verifications.lockByApplicant(named)),
          one?.transaction(async (tx) => {
            await tx.verifications.lock(accountId)
            await tx.verifications.endRedemption(named.externalUserId, 'attached', named.applicantId)
            await tx.verifications.change(accountId, { applicantId: named.applicantId, claim: null })
          }),
        ])
        expect(seen?.verification.accountId).toBe(accountId)
        // Before or after: what is seen of the one fits what is seen of the other.
        const isAttached = seen?.verification.applicantId === named.applicantId
        expect(seen?.attempt?.state).toBe(isAttached ? 'attached' : 'claimed')
      }
    })
  })

  test('who waits for an applicant that goes along to another account finds it there', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 10; round += 1) {
        const named = { applicantId: `applicant ${round}`, externalUserId: `name ${round}` }
        const [from, to] = [`from ${round}`, `to ${round}`]
        await add(one, redemption({ ...named, accountId: from, state: 'attached' }))
        await change(one, { applicantId: named.applicantId }, from)
        await lock(one, to)
        const seen = await waiting(one, two, named, async (tx) => {
          for (const accountId of [from, to]) await tx.verifications.lock(accountId)
          await tx.verifications.change(from, { applicantId: null })
          await tx.verifications.change(to, { applicantId: named.applicantId })
        })
        expect(seen, `round ${round}`).toStrictEqual({ verification: await lock(one, to), attempt: null })
        expect(seen?.verification.applicantId, `round ${round}`).toBe(named.applicantId)
      }
    })
  })

  test('who waits for an attempt whose applicant is attached and goes along at once finds it there', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 10; round += 1) {
        const named = { applicantId: `applicant ${round}`, externalUserId: `name ${round}` }
        const [from, to] = [`from ${round}`, `to ${round}`]
        await add(one, redemption({ externalUserId: named.externalUserId, accountId: from }))
        await lock(one, to)
        const seen = await waiting(one, two, named, async (tx) => {
          for (const accountId of [from, to]) await tx.verifications.lock(accountId)
          await tx.verifications.endRedemption(named.externalUserId, 'attached', named.applicantId)
          await tx.verifications.change(to, { applicantId: named.applicantId })
        })
        expect(seen, `round ${round}`).toStrictEqual({ verification: await lock(one, to), attempt: null })
        expect(seen?.verification.applicantId, `round ${round}`).toBe(named.applicantId)
      }
    })
  })

  test('an attempt comes back as it was noted, and a name is given once', async ({ store }) => {
    const given = [
      redemption(),
      redemption({ externalUserId: odd, number: 2, levelName: null, isFindable: false, replaces: odd, takenBy: odd }),
    ]
    await add(store, ...given)
    expect(await found(store, `${id}-1`)).toStrictEqual(given[0])
    expect(await found(store, odd)).toStrictEqual(given[1])
    expect(await found(store, 'none')).toBeNull()
    await expect(add(store, redemption({ accountId: 'another', number: 9 }))).rejects.toThrow()
    expect(await found(store, `${id}-1`)).toStrictEqual(given[0])
  })

  test('attempts go with their address from account to account, and those of others stay', async ({ store }) => {
    const pass = (fromId: string, toId: string, n = 1) =>
      store.transaction((tx) => tx.verifications.passRedemptions({ emailKey: keyOf(n), fromId, toId }))
    const names = ['one', 'two', 'of another address', 'of another account', 'taken'] as const
    const takers = () => Promise.all(names.map(async (name) => (await found(store, name))?.takenBy))
    await add(
      store,
      redemption({ externalUserId: 'one' }),
      redemption({ externalUserId: 'two', number: 2, state: 'attached', applicantId: 'applicant' }),
      redemption({ externalUserId: 'of another address', number: 3, emailKey: keyOf(2) }),
      redemption({ externalUserId: 'of another account', accountId: odd }),
      redemption({ externalUserId: 'taken', accountId: odd, number: 2, takenBy: 'somebody' }),
    )
    await pass(id, odd)
    expect(await takers()).toEqual([odd, odd, null, null, 'somebody'])
    // It is not the first account's any more.
    await pass(id, 'late')
    expect(await takers()).toEqual([odd, odd, null, null, 'somebody'])
    await pass(odd, 'third')
    expect(await takers()).toEqual(['third', 'third', null, 'third', 'somebody'])
    await pass('third', id)
    expect(await takers()).toEqual([id, id, null, id, 'somebody'])
    await pass(id, 'other', 2)
    expect(await takers()).toEqual([id, id, 'other', id, 'somebody'])
    await store.transaction((tx) => tx.verifications.keepRedemption('two', 'nobody'))
    expect(await takers()).toEqual([id, 'nobody', 'other', id, 'somebody'])
  })

  test('what became of an attempt is kept with its applicant, and one that was attached stays so', async ({
    store,
  }) => {
    await add(store, redemption())
    await end(store, 'unknown')
    expect(await found(store, `${id}-1`)).toStrictEqual(redemption({ state: 'unknown' }))
    await end(store, 'surplus', odd)
    expect(await found(store, `${id}-1`)).toStrictEqual(redemption({ state: 'surplus', applicantId: odd }))
    await end(store, 'attached', 'applicant')
    for (const state of ['refused', 'absent', 'unknown'] as const) await end(store, state, 'other')
    expect(await found(store, `${id}-1`)).toStrictEqual(redemption({ state: 'attached', applicantId: 'applicant' }))
  })

  test('the attempt of an applicant is the newest that was attached with its id, of whatever account', async ({
    store,
  }) => {
    const of = (applicantId: string) => store.transaction((tx) => tx.verifications.redemptionOf(applicantId))
    const attached = redemption({ state: 'attached', applicantId: odd })
    const states = ['claimed', 'unknown', 'unresolved', 'absent', 'refused', 'surplus', 'foreign'] as const
    await add(
      store,
      attached,
      ...states.map((state, n) =>
        redemption({ state, externalUserId: state, number: n + 2, applicantId: odd, claimedAt: epoch + 9 }),
      ),
      redemption({ externalUserId: 'of nobody', number: 9, state: 'attached' }),
    )
    expect(await of(odd)).toStrictEqual(attached)
    expect(await of('unknown')).toBeNull()
    expect(await of('')).toBeNull()
    const again = { state: 'attached', applicantId: odd, claimedAt: epoch + 1 } as const
    const [newer, newest] = [2, 3].map((number) =>
      redemption({ ...again, accountId: 'another', externalUserId: `again ${number}`, number }),
    )
    if (newer === undefined || newest === undefined) throw new TypeError('two attempts')
    await add(store, newest, newer)
    expect(await of(odd)).toStrictEqual(newest)
    // An account that its applicant left keeps the attempt.
    await change(store, { applicantId: null, attempt: null }, 'another')
    expect(await of(odd)).toStrictEqual(newest)
  })

  test('attempts of an account that may have been redeemed come back newest first, the absent ones last and for a while', async ({
    store,
  }) => {
    const states = ['claimed', 'unknown', 'unresolved', 'absent', 'absent', 'refused', 'attached', 'foreign'] as const
    const attempts = states.map((state, n) =>
      redemption({ externalUserId: `name ${n + 1}`, number: n + 1, state, claimedAt: epoch + n }),
    )
    await add(store, ...attempts.toReversed())
    await add(store, redemption({ externalUserId: 'another', accountId: 'another' }))
    expect(await doubtful(store)).toEqual([3, 2, 1, 5, 4])
    expect(await doubtful(store, { absentSince: epoch + 3 })).toEqual([3, 2, 1, 5, 4])
    expect(await doubtful(store, { absentSince: epoch + 4 })).toEqual([3, 2, 1, 5])
    expect(await doubtful(store, { afterNumber: 1 })).toEqual([3, 2, 5, 4])
    expect(await doubtful(store, { limit: 4 })).toEqual([3, 2, 1, 5])
    expect(await doubtful(store, { accountId: 'another' })).toEqual([1])
    expect(await doubtful(store, { accountId: 'none' })).toEqual([])
  })

  test('operators see attempts and verdicts newest first, those of one address by its key', async ({ store }) => {
    const attempts = [
      redemption(),
      redemption({ externalUserId: 'b', number: 2, claimedAt: epoch + 1 }),
      redemption({ externalUserId: 'c', accountId: 'another', emailKey: keyOf(2), claimedAt: epoch + 2 }),
    ]
    const verdicts = [
      verdict(),
      verdict({ news: 'missing', source: 'question', at: null, review: null, outcome: 'doubtful' }),
      verdict({ accountId: 'another' }),
    ]
    await add(store, ...attempts)
    await store.transaction(async (tx) => {
      for (const each of [logged(), logged({ accountId: 'another', emailKey: keyOf(2) })])
        await tx.verifications.logAttempt(each)
    })
    await store.transaction(async (tx) => {
      for (const each of verdicts) await tx.verifications.noteVerdict(each)
    })
    expect(await store.verifications.redemptions({ limit: 10 })).toStrictEqual(attempts.toReversed())
    expect(await store.verifications.redemptions({ limit: 1 })).toStrictEqual(attempts.slice(2))
    expect(await store.verifications.redemptions({ limit: 10, emailKey: keyOf(1) })).toStrictEqual([
      attempts[1],
      attempts[0],
    ])
    expect(await store.verifications.verdicts({ limit: 10 })).toStrictEqual(verdicts.toReversed())
    expect(await store.verifications.verdicts({ limit: 1 })).toStrictEqual(verdicts.slice(2))
    expect(await store.verifications.verdicts({ limit: 10, emailKey: keyOf(1) })).toStrictEqual([
      verdicts[1],
      verdicts[0],
    ])
    expect(await store.verifications.verdicts({ limit: 10, emailKey: keyOf(3) })).toEqual([])
  })

  test('applicants that are missing and not confirmed to be are counted', async ({ store }) => {
    expect(await store.verifications.countMissing()).toBe(0)
    const missing = { since: epoch, told: true, confirmed: false }
    for (const accountId of ['a', 'b', 'c']) await change(store, { missing }, accountId)
    expect(await store.verifications.countMissing()).toBe(3)
    await change(store, { missing: { ...missing, confirmed: true } }, 'a')
    await change(store, { missing: null }, 'b')
    expect(await store.verifications.countMissing()).toBe(1)
  })

  test('a limit below one is refused', async ({ store }) => {
    for (const limit of [0, -1, 0.5, Number.NaN]) await expect(doubtful(store, { limit })).rejects.toThrow(RangeError)
  })
}
