/** Tests: verifications, the claims on them, attempts, events and questions. Source: INTERFACE 3 (KYC attachment); DESIGN section 5.4. @module */
import { expect } from 'vitest'
import type { Review } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { ShareAttempt, Verification, VerificationChange } from '../ports/store-verifications.js'
import { epoch, otherShop, shop } from './fixtures.js'
import { changeVerification, lockVerification } from './steps-of-verifications.js'
import { lastingLeaseMs, passTime, type StoreTest, withAnother } from './subject.js'

/** Text that databases are known to spoil: ids of hosts and of the provider may be any. */
const odd = '\u0000 "%\' \ud800'
const id = `account ${odd}`
const keyOf = (n: number) => n.toString(16).padStart(64, '0')

const empty = (accountId: string): Verification => ({
  accountId,
  donor: null,
  applicantId: null,
  attempt: null,
  review: null,
  reviewedAt: null,
  doubt: null,
  presence: null,
  missing: null,
  attempts: 0,
  claim: null,
})
const rejected: Review = {
  reviewStatus: 'completed',
  reviewAnswer: 'RED',
  rejectType: 'RETRY',
  rejectLabels: [odd, 'BLURRY'],
}
const claimed = (token = 'token') => ({ token, by: shop, externalUserId: `${id}-1` })
const attempt = (changes: Partial<ShareAttempt> = {}): ShareAttempt => ({
  at: epoch,
  integrationAddress: shop,
  emailKey: keyOf(1),
  accountId: id,
  outcome: 'rejected',
  externalUserId: `${id}-1`,
  providerCode: 4_711,
  ...changes,
})

const lock = (store: Store, accountId = id) => lockVerification(store, accountId)
const change = (store: Store, changes: VerificationChange, accountId = id) =>
  changeVerification(store, changes, accountId)
const log = (store: Store, ...attempts: ShareAttempt[]) =>
  store.transaction(async (tx) => {
    for (const each of attempts) await tx.verifications.logAttempt(each)
  })
const listed = async (store: Store, query: Partial<Parameters<Store['verifications']['list']>[0]> = {}) =>
  (await store.verifications.list({ limit: 100, ...query })).map(({ accountId }) => accountId)

/** Registers the tests. */
export function verificationTests(test: StoreTest): void {
  test('the verification of an unknown account is empty, and stays what it is', async ({ store }) => {
    expect(await lock(store)).toStrictEqual(empty(id))
    expect(await lock(store)).toStrictEqual(empty(id))
    expect(await listed(store)).toEqual([id])
  })

  test('every field comes back as it was written, and a field that is not given stays', async ({ store }) => {
    const fields = {
      ...{ donor: shop, applicantId: `applicant ${odd}`, attempt: 2, review: rejected, reviewedAt: epoch, attempts: 3 },
      ...{ doubt: rejected, presence: { isActive: false, at: epoch } },
      missing: { since: epoch, told: true, confirmed: false },
    }
    await change(store, { ...fields, claim: { ...claimed(odd), leaseMs: 60_000 } })
    const stored = { ...empty(id), ...fields, claim: { ...claimed(odd), lapsed: false } }
    expect(await lock(store)).toStrictEqual(stored)
    await change(store, {})
    expect(await lock(store)).toStrictEqual(stored)
    await change(store, { claim: null, review: null })
    expect(await lock(store)).toStrictEqual({ ...stored, claim: null, review: null })
    const missing = { since: epoch + 1, told: false, confirmed: true }
    await change(store, { presence: { isActive: true, at: epoch + 1 }, missing })
    expect(await lock(store)).toMatchObject({ presence: { isActive: true, at: epoch + 1 }, missing })
    await change(store, { donor: null, applicantId: null, attempt: null, reviewedAt: null, attempts: 0 })
    await change(store, { doubt: null, presence: null, missing: null })
    expect(await lock(store)).toStrictEqual(empty(id))
    expect(await lock(store, 'another')).toStrictEqual(empty('another'))
  })

  test('a change that is undone with its transaction leaves nothing, not even an empty verification', async ({
    store,
  }) => {
    const undone = store.transaction(async (tx) => {
      await tx.verifications.lock(id)
      await tx.verifications.change(id, { claim: { ...claimed(), leaseMs: 1 } })
      await tx.verifications.logAttempt(attempt())
      await tx.verifications.noteEvent('event', epoch)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await listed(store)).toEqual([])
    expect(await store.verifications.attempts({ limit: 10 })).toEqual([])
    expect(await store.transaction((tx) => tx.verifications.noteEvent('event', epoch))).toBe(true)
  })

  test('of fifty that claim an account at once on two stores one does, and the others see its claim', async (subject) => {
    await withAnother(subject, async (stores) => {
      for (let round = 0; round < 3; round += 1) {
        const accountId = `raced ${round}`
        const tokens = await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            stores[n % 2]?.transaction(async (tx) => {
              const found = await tx.verifications.lock(accountId)
              if (found.claim !== null) return found.claim.token
              const token = `token ${n}`
              await tx.verifications.change(accountId, {
                attempts: found.attempts + 1,
                claim: { ...claimed(token), leaseMs: 60_000 },
              })
              return token
            }),
          ),
        )
        expect(new Set(tokens).size, `round ${round}`).toBe(1)
        expect(await lock(subject.store, accountId)).toMatchObject({ attempts: 1, claim: { token: tokens[0] } })
      }
    })
  })

  test('of fifty that count an account at once none is lost', async (subject) => {
    await withAnother(subject, async (stores) => {
      const counted = Array.from({ length: 50 }, (_, n) =>
        stores[n % 2]?.transaction(async (tx) => {
          const { attempts } = await tx.verifications.lock(id)
          await tx.verifications.change(id, { attempts: attempts + 1 })
        }),
      )
      await Promise.all(counted)
      expect((await lock(subject.store)).attempts).toBe(50)
    })
  })

  test('a claim lapses at the end of its lease and not before, and stays who it was', async (subject) => {
    const { store } = subject
    await change(store, { claim: { ...claimed(), leaseMs: lastingLeaseMs(subject) } })
    expect((await lock(store)).claim).toStrictEqual({ ...claimed(), lapsed: false })
    await change(store, { claim: { ...claimed(), leaseMs: 100 } })
    await passTime(subject, 100, async () => (await lock(store)).claim?.lapsed === true)
    expect((await lock(store)).claim).toStrictEqual({ ...claimed(), lapsed: true })
    await change(store, { claim: { ...claimed('next'), leaseMs: lastingLeaseMs(subject) } })
    expect((await lock(store)).claim).toStrictEqual({ ...claimed('next'), lapsed: false })
  })

  test('a claim of no time has lapsed', async ({ store }) => {
    await change(store, { claim: { ...claimed(), leaseMs: 0 } })
    expect((await lock(store)).claim).toStrictEqual({ ...claimed(), lapsed: true })
  })

  test('old events are forgotten, so many at a time, and newer ones are not', async ({ store }) => {
    const note = (n: number) => store.transaction((tx) => tx.verifications.noteEvent(`event ${n}`, epoch + n))
    for (const n of [0, 1, 2, 3]) await note(n)
    expect(await store.verifications.forgetEvents(epoch + 3, 2)).toBe(2)
    expect(await store.verifications.forgetEvents(epoch + 3, 2)).toBe(1)
    expect(await store.verifications.forgetEvents(epoch + 3, 2)).toBe(0)
    expect([await note(2), await note(3)]).toEqual([true, false])
  })

  test('an event is noted once, whoever notes it', async (subject) => {
    await withAnother(subject, async (stores) => {
      const noted = Array.from({ length: 10 }, (_, n) =>
        stores[n % 2]?.transaction((tx) => tx.verifications.noteEvent(odd, epoch + n)),
      )
      expect((await Promise.all(noted)).filter(Boolean)).toHaveLength(1)
      expect(await subject.store.transaction((tx) => tx.verifications.noteEvent(`${odd} `, epoch))).toBe(true)
    })
  })

  test('attempts come back newest first with every field, those of one address by its key', async ({ store }) => {
    const given = [
      attempt(),
      attempt({ outcome: 'concurrent', externalUserId: null, providerCode: null }),
      attempt({ emailKey: keyOf(2), accountId: 'another', integrationAddress: otherShop, at: 0 }),
    ]
    await log(store, ...given)
    const found = await store.verifications.attempts({ limit: 10 })
    expect(found).toStrictEqual(given.toReversed())
    expect(await store.verifications.attempts({ limit: 1 })).toEqual(given.slice(2))
    expect(await store.verifications.attempts({ limit: 10, emailKey: keyOf(1) })).toEqual([given[1], given[0]])
    expect(await store.verifications.attempts({ limit: 10, emailKey: keyOf(3) })).toEqual([])
  })

  test('a verification is listed with its address and whether it is claimed, and found by that address', async ({
    store,
  }) => {
    await change(store, { donor: shop, applicantId: 'applicant', review: rejected, reviewedAt: epoch, attempts: 2 })
    await log(store, attempt({ emailKey: keyOf(7) }), attempt())
    const { claim: _, ...rest } = await lock(store)
    expect(await store.verifications.list({ limit: 10 })).toStrictEqual([
      { ...rest, emailKey: keyOf(1), claimed: false },
    ])
    await change(store, { claim: { ...claimed(), leaseMs: 0 } })
    for (const emailKey of [keyOf(1), keyOf(7)])
      expect(await store.verifications.list({ emailKey, limit: 10 })).toStrictEqual([
        { ...rest, emailKey, claimed: true },
      ])
    expect(await store.verifications.list({ emailKey: keyOf(2), limit: 10 })).toEqual([])
  })

  test('the verification of an account is found by its id, and by no part of it', async ({ store }) => {
    for (const accountId of [id, 'another']) await lock(store, accountId)
    await log(store, attempt({ emailKey: keyOf(7) }))
    const { claim: _, ...rest } = await lock(store)
    const found = [{ ...rest, emailKey: keyOf(7), claimed: false }]
    expect(await store.verifications.list({ accountId: id, limit: 10 })).toStrictEqual(found)
    expect(await store.verifications.list({ accountId: id, emailKey: keyOf(7), limit: 10 })).toStrictEqual(found)
    expect(await listed(store, { accountId: 'another', emailKey: keyOf(7) })).toEqual([])
    expect(await listed(store, { accountId: 'anothe' })).toEqual([])
  })

  test('verifications are listed in pages by account', async ({ store }) => {
    const accounts = Array.from({ length: 7 }, (_, n) => `account-${n}`)
    for (const accountId of accounts.toReversed()) {
      await lock(store, accountId)
      await log(store, attempt({ accountId, emailKey: keyOf(accountId < 'account-4' ? 1 : 2) }))
    }
    expect(await listed(store)).toEqual(accounts)
    expect(await listed(store, { limit: 3 })).toEqual(accounts.slice(0, 3))
    expect(await listed(store, { limit: 3, afterAccountId: 'account-2' })).toEqual(accounts.slice(3, 6))
    expect(await listed(store, { afterAccountId: 'account-6' })).toEqual([])
    expect(await listed(store, { emailKey: keyOf(1), afterAccountId: 'account-1' })).toEqual(accounts.slice(2, 4))
  })

  test('the longest due accounts are asked about first, none before its time, with their applicants', async (subject) => {
    const { store } = subject
    const due = async (limit = 10) =>
      (await store.verifications.dueForQuestion(limit)).map(({ applicantId }) => applicantId)
    const ask = (applicantId: string | null, askInMs: number | null) =>
      change(store, { applicantId, askInMs }, `account of ${applicantId}`)
    await ask(null, 50)
    await ask('first', 100)
    await ask('second', 150)
    await ask(odd, 200)
    await ask('far', 3_600_000)
    await ask('never', null)
    expect(await due()).not.toContain('far')
    await passTime(subject, 200, async () => (await due()).length === 4)
    expect(await due()).toEqual([null, 'first', 'second', odd])
    await change(store, { askInMs: null }, 'account of null')
    expect(await store.verifications.dueForQuestion(1)).toEqual([
      { accountId: 'account of first', applicantId: 'first' },
    ])
    await change(store, { askInMs: null }, 'account of first')
    await change(store, { attempts: 1 }, 'account of second')
    expect(await due()).toEqual(['second', odd])
  })

  test('the time of the next question is kept where it has come, or where it comes sooner, when that is asked for', async ({
    store,
  }) => {
    const due = async () => (await store.verifications.dueForQuestion(10)).map(({ applicantId }) => applicantId)
    const far = 3_600_000
    const ask = async (applicantId: string, before: number | null, changes: VerificationChange) => {
      await change(store, { applicantId, askInMs: before }, applicantId)
      await change(store, changes, applicantId)
    }
    await ask('due', 0, { askInMs: far, askUnless: 'due' })
    await ask('due, and then never', 0, { askInMs: null, askUnless: 'due' })
    await ask('not due', far, { askInMs: 0, askUnless: 'due' })
    await ask('never, so not due', null, { askInMs: 0, askUnless: 'due' })
    await ask('sooner', 0, { askInMs: far, askUnless: 'sooner' })
    await ask('sooner than never', 0, { askInMs: null, askUnless: 'sooner' })
    await ask('no sooner', far, { askInMs: 0, askUnless: 'sooner' })
    await ask('never, so no sooner', null, { askInMs: 0, askUnless: 'sooner' })
    await ask('not due, and moved', far, { askInMs: 2 * far, askUnless: 'due' })
    await ask('never at all', null, { askInMs: null, askUnless: 'sooner' })
    await ask('moved on', 0, { askInMs: far })
    const asked = ['due', 'due, and then never', 'not due', 'never, so not due']
    const sooner = ['sooner', 'sooner than never', 'no sooner', 'never, so no sooner']
    expect((await due()).sort()).toEqual([...asked, ...sooner].sort())
  })

  test('a limit below one and times that are no whole milliseconds are refused', async ({ store }) => {
    for (const limit of [0, -1, 0.5, Number.NaN]) {
      await expect(store.verifications.list({ limit })).rejects.toThrow(RangeError)
      await expect(store.verifications.attempts({ limit })).rejects.toThrow(RangeError)
      await expect(store.verifications.dueForQuestion(limit)).rejects.toThrow(RangeError)
      await expect(store.verifications.redemptions({ limit })).rejects.toThrow(RangeError)
      await expect(store.verifications.verdicts({ limit })).rejects.toThrow(RangeError)
      await expect(store.verifications.forgetEvents(epoch, limit)).rejects.toThrow(RangeError)
    }
    for (const ms of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(change(store, { askInMs: ms })).rejects.toThrow(RangeError)
      await expect(change(store, { claim: { ...claimed(), leaseMs: ms } })).rejects.toThrow(RangeError)
    }
  })
}
