/** Tests: redemptions, their leases and their look-ups. Source: docs/decisions/identity.md. @module */
import type { NewRedemption, RedemptionRecord } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch, otherShop } from './fixtures.js'
import { end, ensure, getSubject, odd, redeem, redemption, within } from './identity-steps.js'
import type { StoreTest } from './subject.js'

/** A redemption as it is stored. */
function getRecord({ leaseMs, ...given }: NewRedemption, changes: Partial<RedemptionRecord> = {}): RedemptionRecord {
  return { ...given, isLeased: leaseMs > 0, state: 'in_flight', applicantId: null, ...changes }
}
const named = (store: Store, externalUserId: string) => within(store, (tx) => tx.redemption(externalUserId))
const open = async (store: Store, query: { subjectIds?: string[]; absentSince?: number; limit?: number } = {}) => {
  const all = { subjectIds: ['subject 1'], absentSince: 0, limit: 10, ...query }
  return (await within(store, (tx) => tx.openRedemptions(all))).map(({ externalUserId: name }) => name)
}
export function identityRedemptionTests(test: StoreTest): void {
  test('a redemption is returned as it was added, and its number is the newest of its subject', async ({ store }) => {
    const subject = await ensure(store, 1)
    const first = redemption('subject 1', 1)
    const changes = { externalUserId: odd, integrationAddress: otherShop, levelName: null, isFindable: false }
    const second = redemption('subject 1', 2, { ...changes, startedAt: 0, leaseMs: 0 })
    await redeem(store, first, second)
    expect(await named(store, 'subject 1:1')).toStrictEqual(getRecord(first))
    expect(await named(store, odd)).toStrictEqual(getRecord(second))
    expect(await named(store, 'subject 1')).toBeNull()
    expect(await getSubject(store, 'subject 1')).toStrictEqual({ ...subject, redemptions: 2 })
  })

  test('a name is used once, and a number once in its subject', async ({ store }) => {
    for (const n of [1, 2]) await ensure(store, n)
    await redeem(store, redemption('subject 1', 1))
    await expect(redeem(store, redemption('subject 2', 1, { externalUserId: 'subject 1:1' }))).rejects.toThrow()
    await expect(redeem(store, redemption('subject 1', 1, { externalUserId: 'other' }))).rejects.toThrow()
    expect((await getSubject(store, 'subject 2')).redemptions).toBe(0)
    await redeem(store, redemption('subject 2', 1))
    expect(await named(store, 'subject 1:1')).toStrictEqual(getRecord(redemption('subject 1', 1)))
    expect(await named(store, 'other')).toBeNull()
  })

  test('a change sets the given fields, and an attached redemption keeps its result', async ({ store }) => {
    const given = redemption('subject 1', 1)
    const state = async () => named(store, given.externalUserId)
    await ensure(store, 1)
    await redeem(store, given, redemption('subject 1', 2))
    await end(store, given.externalUserId, { state: 'unknown', applicantId: undefined })
    expect(await state()).toStrictEqual(getRecord(given, { state: 'unknown' }))
    await end(store, given.externalUserId, { applicantId: odd })
    await end(store, given.externalUserId, {})
    expect(await state()).toStrictEqual(getRecord(given, { state: 'unknown', applicantId: odd }))
    await end(store, given.externalUserId, { state: 'surplus' })
    expect(await state()).toStrictEqual(getRecord(given, { state: 'surplus', applicantId: odd }))
    const result = { state: 'attached', applicantId: 'applicant', levelName: odd } as const
    await end(store, given.externalUserId, result)
    const other = { applicantId: 'other', levelName: 'other', lookUpInMs: null }
    for (const later of ['unused', 'absent', 'in_flight'] as const)
      await end(store, given.externalUserId, { state: later, ...other })
    expect(await state()).toStrictEqual(getRecord(given, result))
    expect(await named(store, 'subject 1:2')).toStrictEqual(getRecord(redemption('subject 1', 2)))
  })

  test('a lease lasts exactly its time, in any state', async ({ store, passTime, lastingLeaseMs }) => {
    const isLeased = async (number: number) => (await named(store, `subject 1:${number}`))?.isLeased
    await ensure(store, 1)
    await redeem(store, redemption('subject 1', 1, { leaseMs: 0 }), redemption('subject 1', 2, { leaseMs: 100 }))
    await redeem(store, redemption('subject 1', 3, { leaseMs: lastingLeaseMs }))
    for (const number of [1, 2, 3]) await end(store, `subject 1:${number}`, { state: 'unknown', lookUpInMs: 0 })
    expect([await isLeased(1), await isLeased(3)]).toEqual([false, true])
    await passTime(100, async () => (await isLeased(2)) === false)
    expect(await named(store, 'subject 1:2')).toMatchObject({ state: 'unknown', isLeased: false })
  })

  test('the redemption of an applicant is the newest that is attached with its id', async ({ store }) => {
    const of = async (applicantId: string) =>
      (await within(store, (tx) => tx.findAttachedRedemption(applicantId)))?.externalUserId ?? null
    for (const n of [1, 2]) await ensure(store, n)
    const states = ['in_flight', 'unknown', 'unresolved', 'absent', 'unused', 'surplus', 'foreign'] as const
    await redeem(store, redemption('subject 1', 1))
    await end(store, 'subject 1:1', { state: 'attached', applicantId: odd })
    for (const [n, state] of states.entries()) {
      await redeem(store, redemption('subject 2', n + 1))
      await end(store, `subject 2:${n + 1}`, { state, applicantId: odd })
    }
    expect(await of(odd)).toBe('subject 1:1')
    for (const unknown of ['applicant', '']) expect(await of(unknown)).toBeNull()
    await end(store, 'subject 2:2', { state: 'attached' })
    expect(await of(odd)).toBe('subject 2:2')
  })

  test('open redemptions are listed oldest first; a limit omits absent ones, then the oldest', async ({ store }) => {
    const states = ['in_flight', 'absent', 'unknown', 'unused', 'unresolved', 'attached', 'absent', 'foreign'] as const
    for (const n of [1, 2, 3]) await ensure(store, n)
    for (const [n, state] of [...states, 'surplus' as const].entries()) {
      await redeem(store, redemption('subject 1', n + 1, { startedAt: epoch + n }))
      await end(store, `subject 1:${n + 1}`, { state })
    }
    await redeem(store, redemption('subject 2', 1, { startedAt: epoch + 20 }))
    const of = (...numbers: number[]) => numbers.map((n) => `subject 1:${n}`)
    expect(await open(store)).toEqual(of(1, 2, 3, 5, 7))
    expect(await open(store, { absentSince: epoch + 1 })).toEqual(of(1, 2, 3, 5, 7))
    expect(await open(store, { absentSince: epoch + 2 })).toEqual(of(1, 3, 5, 7))
    expect(await open(store, { limit: 4 })).toEqual(of(1, 3, 5, 7))
    expect(await open(store, { limit: 3 })).toEqual(of(1, 3, 5))
    expect(await open(store, { limit: 2 })).toEqual(of(3, 5))
    const both = ['subject 2', 'subject 1']
    expect(await open(store, { subjectIds: both })).toEqual([...of(1, 2, 3, 5, 7), 'subject 2:1'])
    expect(await open(store, { subjectIds: both, limit: 2 })).toEqual([...of(5), 'subject 2:1'])
    expect(await open(store, { subjectIds: ['subject 3', 'none'] })).toEqual([])
    expect(await open(store, { subjectIds: [] })).toEqual([])
  })

  test('look-ups are due after the lease or at a set time, longest due first', async ({ store, passTime }) => {
    const due = async (limit = 10) => (await store.identity.dueLookUps(limit)).map(({ externalUserId: name }) => name)
    await ensure(store, 1)
    for (const n of [3, 4, 5]) await redeem(store, redemption('subject 1', n, { leaseMs: 3_600_000 }))
    // In the order of their times, so that a slow machine cannot change it.
    await redeem(store, redemption('subject 1', 2, { leaseMs: 50 }))
    await redeem(store, redemption('subject 1', 1, { externalUserId: odd, leaseMs: 100 }))
    await end(store, 'subject 1:3', { lookUpInMs: 150 })
    await end(store, 'subject 1:4', { lookUpInMs: null })
    expect(await due()).not.toContain('subject 1:5')
    await passTime(150, async () => (await due()).length === 3)
    expect(await due()).toEqual(['subject 1:2', odd, 'subject 1:3'])
    expect(await store.identity.dueLookUps(1)).toEqual([{ externalUserId: 'subject 1:2', subjectId: 'subject 1' }])
    await end(store, 'subject 1:2', { state: 'absent', lookUpInMs: 3_600_000 })
    await end(store, odd, { state: 'unresolved' })
    await end(store, 'subject 1:3', { state: 'attached', applicantId: 'applicant', lookUpInMs: null })
    expect(await due()).toEqual([odd])
  })

  test('waits written by a clock ahead end: look-ups are due, and a lease lasts from now', async ({ store }) => {
    const due = async () => (await store.identity.dueLookUps(10)).map(({ externalUserId: name }) => name)
    const usual = { leaseMs: 120_000, lookUpMs: 3_600_000, pollMs: 86_400_000 }
    await ensure(store, 1)
    await redeem(store, redemption('subject 1', 1, { leaseMs: 120_000 }))
    await redeem(store, redemption('subject 1', 2, { leaseMs: 10_800_000 }))
    expect(await store.identity.resetOverlongWaits(usual)).toBe(1)
    expect(await due()).toEqual(['subject 1:2'])
    expect(await named(store, 'subject 1:2')).toMatchObject({ isLeased: true })
    await end(store, 'subject 1:2', { state: 'absent', lookUpInMs: 3_600_000 })
    expect(await store.identity.resetOverlongWaits(usual)).toBe(0)
    expect(await store.identity.resetOverlongWaits({ ...usual, lookUpMs: 60_000 })).toBe(1)
    expect(await due()).toEqual(['subject 1:2'])
  })

  test('operators see redemptions newest first, those of an address by its key', async ({ store }) => {
    const listed = async (emailKey?: string, limit = 10) =>
      (await store.identity.redemptions({ emailKey, limit })).map(({ externalUserId: name }) => name)
    const [one, two] = [await ensure(store, 1), await ensure(store, 2)]
    const given = redemption('subject 1', 1, { leaseMs: 0 })
    await redeem(store, given, redemption('subject 2', 1), redemption('subject 1', 2))
    expect(await listed()).toEqual(['subject 1:2', 'subject 2:1', 'subject 1:1'])
    expect(await listed(undefined, 1)).toEqual(['subject 1:2'])
    expect(await listed(one.emailKey ?? '')).toEqual(['subject 1:2', 'subject 1:1'])
    expect(await listed(two.emailKey ?? '', 1)).toEqual(['subject 2:1'])
    expect(await listed('0'.repeat(64))).toEqual([])
    expect((await store.identity.redemptions({ limit: 3 }))[2]).toStrictEqual(getRecord(given))
  })
}
