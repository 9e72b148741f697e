/** Tests: persons, and who waits for whom. Source: docs/decisions/identity.md. @module */
import type { IdentitySubject, PersonQuery, StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import * as steps from './identity-steps.js'
import type { StoreTest } from './subject.js'

const { carrier, change, direct, ensure, getEmail, getSubject, insert, odd, own, persons, within } = steps

const getIds = (subjects: readonly IdentitySubject[]) => subjects.map(({ id }) => id)

/** Increments a number in a verification, so that concurrent transactions without a lock would lose an increment. */
const count = (store: Store, query: PersonQuery, counter: string, onRun?: () => void) =>
  within(store, async (tx) => {
    onRun?.()
    const subject = (await tx.lockPersons(query)).find(({ id }) => id === counter)
    await tx.changeVerification(counter, { attachedNumber: (subject?.attachedNumber ?? 0) + 1 })
  })

/** Starts `two` after `one` changed its persons, and before `one` commits; returns what `two` resolves. */
async function waiting(one: Store, two: Store, query: PersonQuery, work: (tx: StoreTransaction) => Promise<void>) {
  let seen: Promise<IdentitySubject[]> | undefined
  await one.transaction(async (tx) => {
    await work(tx)
    seen ??= persons(two, query)
    for (let statement = 0; statement < 10; statement += 1) await tx.identity.redemption('none')
  })
  return seen
}
export function identityPersonTests(test: StoreTest): void {
  test('a person is all subjects of one account, in the order in which they were made', async ({ store }) => {
    const account = `account ${odd}`
    await insert(store, direct('d', account), carrier('c', 1, account, true))
    await insert(store, carrier('other', 2, 'other'), carrier('b', 3, account))
    await own(store, 'b', { closed: true })
    await insert(store, carrier('a', 3, account))
    const all = ['d', 'c', 'b', 'a']
    expect(getIds(await persons(store, { accountIds: [account] }))).toEqual(all)
    for (const n of [1, 3]) expect(getIds(await persons(store, { emailKey: getEmail(n).key }))).toEqual(all)
    for (const id of all) expect(getIds(await persons(store, { subjectId: id })), id).toEqual(all)
    expect(getIds(await persons(store, { emailKey: getEmail(2).key }))).toEqual(['other'])
  })

  test('a placeholder is a person of its own', async ({ store }) => {
    for (const n of [1, 2]) await ensure(store, n)
    await own(store, 'subject 2', { closed: true })
    await ensure(store, 2, 'successor')
    expect(getIds(await persons(store, { emailKey: getEmail(1).key }))).toEqual(['subject 1'])
    expect(getIds(await persons(store, { emailKey: getEmail(2).key }))).toEqual(['successor'])
    expect(getIds(await persons(store, { subjectId: 'subject 2' }))).toEqual(['subject 2'])
  })

  test('several persons are locked at once, and an unknown one has no subjects', async ({ store }) => {
    await insert(store, carrier('d', 1, 'one'), carrier('c', 2, 'two'))
    await ensure(store, 3, 'b')
    await insert(store, direct('a', 'one'))
    const query = { emailKey: getEmail(3).key, accountIds: ['two', 'one', 'two', 'unknown'], subjectId: 'd' }
    expect(getIds(await persons(store, query))).toEqual(['d', 'c', 'b', 'a'])
    expect(getIds(await persons(store, { emailKey: getEmail(3).key, accountIds: [] }))).toEqual(['b'])
    for (const none of [{ emailKey: getEmail(9).key }, { accountIds: ['on', odd] }, { subjectId: '' }, {}])
      expect(await persons(store, none)).toEqual([])
  })

  test('a transaction that reads its persons again sees its own writes', async ({ store }) => {
    await ensure(store, 1)
    const seen = await within(store, async (tx) => {
      const query = { emailKey: getEmail(1).key, accountIds: ['account'] }
      const before = await tx.lockPersons(query)
      await tx.setOwner('subject 1', { accountId: 'account' })
      await tx.insertSubject(direct('direct', 'account'))
      return [before, await tx.lockPersons(query), await tx.lockPersons({ subjectId: 'subject 1' })].map(getIds)
    })
    expect(seen).toEqual([['subject 1'], ['subject 1', 'direct'], ['subject 1', 'direct']])
  })

  test('transactions that lock one person wait for each other, however they identify it', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    await insert(one, carrier('first', 1, 'account'), carrier('second', 2, 'account'), direct('direct', 'account'))
    await ensure(one, 3, 'placeholder')
    const names: PersonQuery[] = [
      { emailKey: getEmail(1).key },
      { emailKey: getEmail(2).key, accountIds: ['account'] },
      { accountIds: ['account'] },
      { subjectId: 'direct' },
      { emailKey: getEmail(3).key, accountIds: ['account'] },
    ]
    const counted = Array.from({ length: 50 }, (_, n) =>
      count(n % 2 === 0 ? one : two, names[n % names.length] ?? {}, 'first'),
    )
    await Promise.all(counted)
    expect(await getSubject(one, 'first')).toMatchObject({ attachedNumber: 50, revision: 50 })
  })

  test('a person without a subject can be locked: of ten verifications at once one is first', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 3; round += 1) {
      const accountId = `account ${round}`
      const verified = Array.from({ length: 10 }, (_, n) =>
        within(n % 2 === 0 ? one : two, async (tx) => {
          const known = await tx.lockPersons({ accountIds: [accountId] })
          if (known.length === 0) await tx.insertSubject(direct(`${round} ${n}`, accountId))
          return known.length
        }),
      )
      expect((await Promise.all(verified)).sort(), `round ${round}`).toEqual([0, ...Array(9).fill(1)])
    }
  })

  test('two persons that are locked in either order, together or one by one, never deadlock', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    await insert(one, carrier('first', 1, 'a'), carrier('second', 2, 'b'))
    let runs = 0
    const atOnce = Array.from({ length: 40 }, (_, n) => {
      const accountIds = n % 4 < 2 ? ['a', 'b'] : ['b', 'a']
      return count(n % 2 === 0 ? one : two, { accountIds }, 'first', () => {
        runs += 1
      })
    })
    await Promise.all(atOnce)
    // Those that are locked together need no second run.
    expect(runs).toBe(40)
    const oneByOne = [
      ['a', 'b'],
      ['b', 'a'],
    ].map((accounts, n) =>
      within(n === 0 ? one : two, async (tx) => {
        for (const accountId of accounts) await tx.lockPersons({ accountIds: [accountId] })
        const [first] = await tx.lockPersons({ accountIds: ['a'] })
        await tx.changeVerification('first', { attachedNumber: (first?.attachedNumber ?? 0) + 1 })
      }),
    )
    await Promise.all(oneByOne)
    expect((await getSubject(one, 'first')).attachedNumber).toBe(42)
  })

  test('a transaction that waits for a placeholder sees the person of its new account', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 10; round += 1) {
      const [id, accountId] = [`placeholder ${round}`, `account ${round}`]
      await insert(one, direct(`direct ${round}`, accountId))
      await ensure(one, round, id)
      const seen = await waiting(one, two, { subjectId: id }, async (tx) => {
        await tx.identity.lockPersons({ emailKey: getEmail(round).key, accountIds: [accountId] })
        await tx.identity.setOwner(id, { accountId, proved: true })
      })
      expect(seen, `round ${round}`).toStrictEqual(await persons(one, { accountIds: [accountId] }))
      expect(getIds(seen ?? []), `round ${round}`).toEqual([`direct ${round}`, id])
    }
  })

  test('a transaction that waits for an account sees subjects added or changed meanwhile', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 10; round += 1) {
      const [id, accountId] = [`subject ${round}`, `account ${round}`]
      const query = { accountIds: [accountId] }
      const joined = await waiting(one, two, query, async (tx) => {
        await tx.identity.lockPersons(query)
        await tx.identity.insertSubject(carrier(id, round, accountId))
      })
      expect(getIds(joined ?? []), `round ${round}`).toEqual([id])
      const changed = await waiting(one, two, query, async (tx) => {
        await tx.identity.lockPersons({ subjectId: id })
        await tx.identity.changeVerification(id, { applicantId: odd })
      })
      expect(changed, `round ${round}`).toMatchObject([{ id, applicantId: odd, revision: 1 }])
    }
  })

  test('a transaction that fails releases its persons', async ({ store }) => {
    await ensure(store, 1)
    const failed = within(store, async (tx) => {
      await tx.lockPersons({ subjectId: 'subject 1', accountIds: ['account'] })
      throw new Error('failed')
    })
    await expect(failed).rejects.toThrow('failed')
    await change(store, 'subject 1', { attachedNumber: 1 })
    expect(await persons(store, { accountIds: ['account'] })).toEqual([])
  })
}
