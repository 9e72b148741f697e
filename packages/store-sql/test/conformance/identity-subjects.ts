/**
 * Tests: subjects, their accounts, and their listing for operators. Source: docs/interface.md 3 (KYC attachment), 4.2.
 * @module
 */
import type { SubjectQuery } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as steps from './identity-steps.js'
import type { StoreTest } from './subject.js'

const { carrier, direct, end, ensure, getEmail, getSubject, insert, odd, own, redeem, redemption, stored } = steps
const { within } = steps

const listed = async (store: Store, query: Partial<SubjectQuery> = {}) =>
  (await store.identity.subjects({ limit: 100, ...query })).map(({ id }) => id)
export function identitySubjectTests(test: StoreTest): void {
  test('the first request for the subject of an address makes a placeholder, and all later ones get it', async ({
    store,
  }) => {
    const placeholder = stored({ id: odd, emailKey: getEmail(1).key, accountId: null, proved: false })
    expect(await ensure(store, 1, odd)).toStrictEqual(placeholder)
    expect(await ensure(store, 1, 'fresh')).toStrictEqual(placeholder)
    const resealed = within(store, (tx) => tx.ensureSubject(getEmail(1, 2), 'fresh'))
    expect(await resealed).toStrictEqual(placeholder)
    expect((await ensure(store, 2, 'other')).id).toBe('other')
    expect(await getSubject(store, odd)).toStrictEqual(placeholder)
    expect(await listed(store, { id: 'fresh' })).toEqual([])
  })

  test('twenty concurrent requests for the subject of a new address get the same one', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 5; round += 1) {
      const ensured = Array.from({ length: 20 }, (_, n) => ensure(n % 2 === 0 ? one : two, round, `${round} ${n}`))
      const ids = (await Promise.all(ensured)).map(({ id }) => id)
      expect(new Set(ids).size, `round ${round}`).toBe(1)
      expect(await listed(one, { emailKey: getEmail(round).key })).toEqual([ids[0]])
    }
  })

  test('a request for a subject that is being replaced gets the old one or the new one', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 10; round += 1) {
      const [old, fresh, third] = ['old', 'new', 'third'].map((name) => `${name} ${round}`) as [string, string, string]
      await ensure(one, round, old)
      const replaced = within(one, async (tx) => {
        await tx.lockPersons({ subjectId: old, accountIds: ['owner'] })
        await tx.setOwner(old, { closed: true })
        await tx.insertSubject(carrier(fresh, round, 'owner', true))
      })
      const [{ id }] = await Promise.all([ensure(two, round, third), replaced])
      expect([old, fresh], `round ${round}`).toContain(id)
      expect(await listed(one, { emailKey: getEmail(round).key }), `round ${round}`).toEqual([fresh, old].sort())
    }
  })

  test('a subject is returned as it was stored', async ({ store }) => {
    const subjects = [carrier(`a ${odd}`, 1, `account ${odd}`, true), carrier('b', 2, null), direct('c', odd)]
    for (const subject of subjects) {
      const { email: _, ...given } = subject
      await insert(store, subject)
      expect(await getSubject(store, subject.id)).toStrictEqual(stored(given))
    }
  })

  test('an address has one open subject, and any number of closed ones', async ({ store }) => {
    await ensure(store, 1, 'first')
    await expect(insert(store, carrier('second', 1, 'account'))).rejects.toThrow()
    expect(await listed(store)).toEqual(['first'])
    await own(store, 'first', { closed: true })
    await insert(store, carrier('second', 1, 'account'))
    await own(store, 'second', { closed: true })
    expect((await ensure(store, 1, 'third')).id).toBe('third')
    expect(await listed(store)).toEqual(['first', 'second', 'third'])
    await expect(own(store, 'second', { closed: false })).rejects.toThrow()
    expect((await getSubject(store, 'second')).closed).toBe(true)
  })

  test('an account has one direct verification in addition to its addresses', async ({ store }) => {
    await insert(store, direct('a', 'account'), carrier('b', 1, 'account'), direct('c', 'another'))
    await expect(insert(store, direct('d', 'account'))).rejects.toThrow()
    expect(await listed(store)).toEqual(['a', 'b', 'c'])
  })

  test('a change of the owner sets only the given fields', async ({ store }) => {
    const first = await ensure(store, 1)
    await ensure(store, 2)
    const { id } = first
    await own(store, id, { accountId: odd, proved: true })
    expect(await getSubject(store, id)).toStrictEqual({ ...first, accountId: odd, proved: true })
    await own(store, id, { closed: true })
    expect(await getSubject(store, id)).toStrictEqual({ ...first, accountId: odd, proved: true, closed: true })
    await own(store, id, {})
    await own(store, id, { accountId: null, proved: false })
    expect(await getSubject(store, id)).toStrictEqual({ ...first, closed: true })
    expect(await getSubject(store, 'subject 2')).toMatchObject({ accountId: null, proved: false, closed: false })
  })

  test('subjects are listed in pages by id: all, of an address, of an account, or one', async ({ store }) => {
    const ids = Array.from({ length: 7 }, (_, n) => `subject ${n}`)
    for (const [n, id] of [...ids.entries()].reverse()) await insert(store, carrier(id, n, n < 4 ? odd : null))
    await insert(store, direct('direct', odd))
    await own(store, 'subject 3', { closed: true })
    await ensure(store, 3, 'successor')
    expect(await listed(store)).toEqual(['direct', ...ids, 'successor'])
    expect(await listed(store, { limit: 3 })).toEqual(['direct', ...ids.slice(0, 2)])
    expect(await listed(store, { limit: 3, afterId: 'subject 1' })).toEqual(ids.slice(2, 5))
    expect(await listed(store, { afterId: 'successor' })).toEqual([])
    expect(await listed(store, { emailKey: getEmail(3).key })).toEqual(['subject 3', 'successor'])
    expect(await listed(store, { accountId: odd })).toEqual(['direct', ...ids.slice(0, 4)])
    expect(await listed(store, { accountId: odd, emailKey: getEmail(3).key })).toEqual(['subject 3'])
    expect(await listed(store, { accountId: odd, afterId: 'subject 2' })).toEqual(['subject 3'])
    expect(await listed(store, { id: 'subject 5' })).toEqual(['subject 5'])
    expect(await listed(store, { id: 'subject' })).toEqual([])
  })

  test('a subject is listed as open while a redemption of it has no known outcome', async ({ store }) => {
    const isOpen = async () => (await store.identity.subjects({ id: 'subject 1', limit: 1 })).map((each) => each.isOpen)
    await ensure(store, 1)
    await ensure(store, 2)
    await redeem(store, redemption('subject 2', 1))
    expect(await isOpen()).toEqual([false])
    await redeem(store, redemption('subject 1', 1))
    expect(await isOpen()).toEqual([true])
    for (const state of ['unknown', 'unresolved'] as const) {
      await end(store, 'subject 1:1', { state })
      expect(await isOpen(), state).toEqual([true])
    }
    for (const state of ['absent', 'unused', 'foreign', 'surplus', 'attached'] as const) {
      await end(store, 'subject 1:1', { state })
      expect(await isOpen(), state).toEqual([false])
    }
  })
}
