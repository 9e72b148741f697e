/** Tests: verifications, and when they are polled. Source: docs/interface.md 3; docs/decisions/identity.md. @module */
import { expect } from 'vitest'
import { epoch, shop } from './fixtures.js'
import { carrier, change, ensure, getSubject, insert, odd, rejected, within } from './identity-steps.js'
import type { StoreTest } from './subject.js'

const id = 'subject 1'
export function identityVerificationTests(test: StoreTest): void {
  test('every field of a verification is returned as stored; a change keeps other fields', async ({ store }) => {
    const empty = await ensure(store, 1)
    const fields = {
      ...{ donor: shop, applicantId: `applicant ${odd}`, attachedNumber: 2, attachedAt: epoch, review: rejected },
      ...{ reviewedAt: epoch + 1, doubt: { ...rejected, rejectLabels: [] }, presence: { isActive: false, at: epoch } },
      missing: { since: epoch, reported: true, confirmed: false },
    }
    await change(store, id, fields)
    expect(await getSubject(store, id)).toStrictEqual({ ...empty, ...fields, revision: 1 })
    const later = {
      presence: { isActive: true, at: epoch + 2 },
      missing: { since: epoch + 3, reported: false, confirmed: true },
    }
    await change(store, id, { ...later, pollInMs: undefined })
    expect(await getSubject(store, id)).toStrictEqual({ ...empty, ...fields, ...later, revision: 2 })
    await change(store, id, { donor: null, applicantId: null, attachedNumber: null, attachedAt: null, review: null })
    await change(store, id, { reviewedAt: null, doubt: null, presence: null, missing: null })
    expect(await getSubject(store, id)).toStrictEqual({ ...empty, revision: 4 })
  })

  test('the revision grows with every change of the verification of this subject only', async ({ store }) => {
    for (const n of [1, 2]) await ensure(store, n)
    for (const changes of [{}, { pollInMs: null }, { reviewedAt: epoch }, { reviewedAt: epoch }])
      await change(store, id, changes)
    expect((await getSubject(store, id)).revision).toBe(4)
    expect((await getSubject(store, 'subject 2')).revision).toBe(0)
  })

  test('the subject of an applicant is the one to which it is attached', async ({ store }) => {
    const of = (applicantId: string) => within(store, (tx) => tx.findSubjectByApplicant(applicantId))
    await insert(store, carrier(odd, 1, 'account'), carrier('other', 2, 'account'))
    await change(store, odd, { applicantId: odd })
    await change(store, 'other', { applicantId: 'applicant' })
    expect(await of(odd)).toStrictEqual(await getSubject(store, odd))
    expect((await of('applicant'))?.id).toBe('other')
    for (const unknown of ['applican', '']) expect(await of(unknown)).toBeNull()
    await change(store, odd, { applicantId: null })
    expect(await of(odd)).toBeNull()
  })

  test('the longest due applicants are polled first, and none before its time', async ({ store, passTime }) => {
    const due = async (limit = 10) => (await store.identity.duePolls(limit)).map(({ applicantId }) => applicantId)
    const poll = async (n: number, applicantId: string | null, pollInMs: number | null) => {
      await ensure(store, n)
      await change(store, `subject ${n}`, { applicantId, pollInMs })
    }
    for (const n of [1, 2, 3]) await ensure(store, n)
    // In the order of their times, so that a slow machine cannot change it.
    await poll(3, 'first', 50)
    await poll(2, 'second', 100)
    await poll(1, odd, 150)
    await poll(4, null, 0)
    await poll(5, 'far', 3_600_000)
    await poll(6, 'never', null)
    expect(await due()).not.toContain('far')
    await passTime(150, async () => (await due()).length === 3)
    expect(await due()).toEqual(['first', 'second', odd])
    expect(await store.identity.duePolls(1)).toEqual([{ subjectId: 'subject 3', applicantId: 'first' }])
    await change(store, 'subject 3', { pollInMs: null })
    await change(store, 'subject 2', { review: rejected })
    expect(await due()).toEqual(['second', odd])
    await change(store, 'subject 2', { pollInMs: 3_600_000 })
    await change(store, id, { applicantId: null })
    expect(await due()).toEqual([])
  })

  test('a poll that lies further ahead than any is due: a clock that was ahead planned it', async ({ store }) => {
    await ensure(store, 1)
    await change(store, 'subject 1', { applicantId: 'applicant', pollInMs: 86_400_000 })
    const longest = { leaseMs: 120_000, lookUpMs: 3_600_000 }
    expect(await store.identity.resetOverlongWaits({ ...longest, pollMs: 86_400_000 })).toBe(0)
    expect(await store.identity.duePolls(10)).toEqual([])
    expect(await store.identity.resetOverlongWaits({ ...longest, pollMs: 3_600_000 })).toBe(1)
    expect(await store.identity.duePolls(10)).toEqual([{ subjectId: 'subject 1', applicantId: 'applicant' }])
  })

  test('missing applicants that are not confirmed are counted', async ({ store }) => {
    const missing = { since: epoch, reported: true, confirmed: false }
    expect(await store.identity.countMissing()).toBe(0)
    for (const n of [1, 2, 3, 4]) await ensure(store, n)
    for (const n of [1, 2, 3]) await change(store, `subject ${n}`, { missing })
    expect(await store.identity.countMissing()).toBe(3)
    await change(store, 'subject 1', { missing: { ...missing, confirmed: true } })
    await change(store, 'subject 2', { missing: null })
    expect(await store.identity.countMissing()).toBe(1)
  })
}
