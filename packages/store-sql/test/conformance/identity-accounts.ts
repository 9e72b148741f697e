/** Tests: the store's own accounts. Source: docs/interface.md 4.2 (account resolution order). @module */
import type { AccountEvent, IdentityAccountTransaction, StoredEmailCode } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { shop } from './fixtures.js'
import { ensure, getEmail, odd } from './identity-steps.js'
import type { StoreTest } from './subject.js'

const storedCode = (hash: string): StoredEmailCode => {
  return { hash: hash.padStart(64, 'a'), expiresAt: 2 ** 45, triesLeft: 5 }
}
const within = <T>(store: Store, work: (tx: IdentityAccountTransaction) => Promise<T>): Promise<T> =>
  store.transaction((tx) => work(tx.identityAccounts))
const register = (store: Store, n: number, accountId: string) =>
  within(store, (tx) => tx.register(getEmail(n), accountId))
/** Gives an address to an account as a proof does: in the lock of the address's person. */
const own = (store: Store, n: number, accountId: string) =>
  store.transaction(async (tx) => {
    await tx.identity.lockPersons({ emailKey: getEmail(n).key, accountIds: [accountId] })
    await tx.identityAccounts.setProvedOwner(getEmail(n), accountId)
  })
const resolve = (store: Store, n: number) => within(store, (tx) => tx.findAddressOwner(getEmail(n).key))
const find = (store: Store, accountId: string) => within(store, (tx) => tx.find(accountId))
export function identityAccountTests(test: StoreTest): void {
  test('an address belongs to the account that proved it, else to the oldest that carries it, else to none', async ({
    store,
  }) => {
    expect(await resolve(store, 1)).toBeNull()
    await register(store, 2, 'other')
    for (const accountId of [odd, 'a newer one', 'another']) await register(store, 1, accountId)
    expect(await resolve(store, 1)).toStrictEqual({ accountId: odd, proved: false })
    await own(store, 1, 'another')
    expect(await resolve(store, 1)).toStrictEqual({ accountId: 'another', proved: true })
    await register(store, 1, 'late')
    expect(await resolve(store, 1)).toStrictEqual({ accountId: 'another', proved: true })
    expect(await resolve(store, 2)).toStrictEqual({ accountId: 'other', proved: false })
    expect(await resolve(store, 3)).toBeNull()
  })

  test('an account is registered once, and carries its address unverified', async ({ store }) => {
    expect(await find(store, odd)).toBeNull()
    await register(store, 1, odd)
    expect(await find(store, odd)).toStrictEqual({ accountId: odd, emailVerified: false })
    await expect(register(store, 2, odd)).rejects.toThrow()
    expect(await resolve(store, 2)).toBeNull()
    expect(await find(store, '')).toBeNull()
  })

  test('an account that proves an address owns it alone; others stay registered without it', async ({ store }) => {
    for (const accountId of ['first', 'second']) await register(store, 1, accountId)
    await own(store, 1, 'new')
    expect(await resolve(store, 1)).toStrictEqual({ accountId: 'new', proved: true })
    expect(await find(store, 'new')).toStrictEqual({ accountId: 'new', emailVerified: true })
    for (const accountId of ['first', 'second'])
      expect(await find(store, accountId)).toStrictEqual({ accountId, emailVerified: false })
    await own(store, 1, 'second')
    await own(store, 1, 'second')
    expect(await resolve(store, 1)).toStrictEqual({ accountId: 'second', proved: true })
    expect(await find(store, 'new')).toStrictEqual({ accountId: 'new', emailVerified: false })
  })

  test('an account that proves another address no longer carries its former one', async ({ store }) => {
    await register(store, 1, 'mover')
    await register(store, 1, 'stayer')
    await own(store, 2, 'mover')
    expect(await resolve(store, 1)).toStrictEqual({ accountId: 'stayer', proved: false })
    expect(await resolve(store, 2)).toStrictEqual({ accountId: 'mover', proved: true })
    await own(store, 3, 'mover')
    expect(await resolve(store, 2)).toBeNull()
    await own(store, 3, 'stayer')
    expect(await resolve(store, 1)).toBeNull()
    expect(await resolve(store, 3)).toStrictEqual({ accountId: 'stayer', proved: true })
  })

  test('when accounts prove one address at once, the last one owns it alone', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    const names = Array.from({ length: 10 }, (_, n) => `prover ${n}`)
    await ensure(one, 1)
    for (const name of names.slice(0, 5)) await register(one, 1, name)
    await Promise.all(names.map((name, n) => own(n % 2 === 0 ? one : two, 1, name)))
    const owner = await resolve(one, 1)
    expect(owner?.proved).toBe(true)
    const verified = await Promise.all(names.map(async (name) => (await find(one, name))?.emailVerified))
    expect(verified).toEqual(names.map((name) => name === owner?.accountId))
  })

  test('accounts that prove each other’s addresses at once swap them', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    for (let round = 0; round < 10; round += 1) {
      const [left, right] = [2 * round, 2 * round + 1]
      for (const n of [left, right]) {
        await ensure(one, n)
        await own(one, n, `account ${n}`)
      }
      await Promise.all([own(one, left, `account ${right}`), own(two, right, `account ${left}`)])
      const owners = [await resolve(one, left), await resolve(one, right)].map((owner) => owner?.accountId)
      expect(owners, `round ${round}`).toEqual([`account ${right}`, `account ${left}`])
    }
  })

  test('a code stays until it is replaced or deleted', async ({ store }) => {
    const [first, second] = [storedCode('1'), { ...storedCode('2'), triesLeft: 1 }]
    const getCode = (n: number) => within(store, (tx) => tx.lockCode(getEmail(n).key))
    const setCode = (code: StoredEmailCode | null) => within(store, (tx) => tx.setCode(getEmail(1).key, code))
    expect(await getCode(1)).toBeNull()
    await setCode(first)
    expect(await getCode(1)).toStrictEqual(first)
    expect(await getCode(2)).toBeNull()
    await setCode(second)
    expect(await getCode(1)).toStrictEqual(second)
    await setCode(null)
    expect(await getCode(1)).toBeNull()
  })

  test('when ten transactions take a code at once, one finds it', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    const { key } = getEmail(1)
    await within(one, (tx) => tx.setCode(key, storedCode('1')))
    const take = (store: Store) =>
      within(store, async (tx) => {
        const code = await tx.lockCode(key)
        if (code !== null) await tx.setCode(key, null)
        return code
      })
    const taken = await Promise.all(Array.from({ length: 10 }, (_, n) => take(n % 2 === 0 ? one : two)))
    expect(taken.filter((code) => code !== null)).toStrictEqual([storedCode('1')])
  })

  test('the log of accounts is listed newest first, in full or by address', async ({ store }) => {
    const event = (n: number, of: Partial<AccountEvent>): AccountEvent => ({
      ...{ at: n, action: 'registered', emailKey: getEmail(n % 2).key, accountId: `account ${odd} ${n}` },
      ...{ proof: null, by: null, reason: null },
      ...of,
    })
    const logged = [
      event(1, {}),
      event(2, { action: 'proved', proof: 'attestation', by: shop }),
      event(3, { action: 'rejected', accountId: null, proof: 'code', reason: 'code_wrong' }),
      event(4, { action: 'verified', emailKey: null }),
    ]
    for (const each of logged) await within(store, (tx) => tx.log(each))
    expect(await store.identity.accountEvents({ limit: 10 })).toStrictEqual([...logged].reverse())
    expect(await store.identity.accountEvents({ limit: 2 })).toStrictEqual(logged.slice(2).reverse())
    const ofOne = await store.identity.accountEvents({ emailKey: getEmail(1).key, limit: 10 })
    expect(ofOne).toStrictEqual([logged[2], logged[0]])
  })
}
