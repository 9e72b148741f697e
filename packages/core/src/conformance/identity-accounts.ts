/** Tests: accounts by e-mail address, and data keys. Source: INTERFACE 4.2 (account resolution order). @module */
import { expect } from 'vitest'
import type { EmailAddress } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import { shop } from './fixtures.js'
import { type StoreTest, withAnother } from './subject.js'

const email = (n: number, keyVersion = 1): EmailAddress => ({
  address: `user${n}@example.com`,
  key: n.toString(16).padStart(64, '0'),
  sealed: { keyVersion, sealed: `sealed ${n} ${keyVersion}` },
})
const code = { kind: 'code' } as const
const accountOf = async (store: Store, n: number) => (await store.identityAccounts.resolve(email(n))).accountId

/** Registers the tests. */
export function identityAccountTests(test: StoreTest): void {
  test('an address resolves to one account, however it is sealed, and another address to another', async ({
    store,
  }) => {
    const accountId = await accountOf(store, 1)
    expect(accountId).not.toBe('')
    expect(await accountOf(store, 1)).toBe(accountId)
    expect(await store.identityAccounts.resolve(email(1, 2))).toEqual({ accountId })
    expect(await accountOf(store, 2)).not.toBe(accountId)
  })

  test('of twenty who resolve a new address at once on two stores all get the same account', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 5; round += 1) {
        const asked = Array.from({ length: 20 }, (_, n) => accountOf(n % 2 === 0 ? one : two, round))
        expect(new Set(await Promise.all(asked)).size, `round ${round}`).toBe(1)
      }
    })
  })

  test('who proves an address gets its placeholder, which stays its account', async ({ store }) => {
    const accountId = await accountOf(store, 1)
    const registered = { accountId, kind: 'registered', emailVerified: true }
    expect(await store.identityAccounts.claim(email(1), code)).toStrictEqual(registered)
    expect(await accountOf(store, 1)).toBe(accountId)
    const attested = { kind: 'attestation', integrationAddress: shop } as const
    expect(await store.identityAccounts.claim(email(1), attested)).toStrictEqual(registered)
  })

  test('who proves an address that nobody shared gets an account of its own', async ({ store }) => {
    const other = await accountOf(store, 2)
    const { accountId } = await store.identityAccounts.claim(email(1), code)
    expect(accountId).not.toBe(other)
    expect(await accountOf(store, 1)).toBe(accountId)
    expect(await accountOf(store, 2)).toBe(other)
  })

  test('claims and shares of one address at once all end at one account', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 5; round += 1) {
        const asked = Array.from({ length: 20 }, async (_, n) => {
          const store = n % 2 === 0 ? one : two
          return n % 4 < 2
            ? accountOf(store, round)
            : (await store.identityAccounts.claim(email(round), code)).accountId
        })
        expect(new Set(await Promise.all(asked)).size, `round ${round}`).toBe(1)
      }
    })
  })

  test('of ten candidates for a data key at once all get the same one, and each purpose has its own', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      const asked = Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? one : two).dataKeys.obtain('email', { keyVersion: 2 ** 32 - 1, sealed: `candidate ${n}` }),
      )
      const keys = await Promise.all(asked)
      expect(new Set(keys.map(({ sealed }) => sealed)).size).toBe(1)
      expect(keys[0]).toStrictEqual({ keyVersion: 2 ** 32 - 1, sealed: keys[0]?.sealed })
      const other = { keyVersion: 1, sealed: 'other' }
      expect(await one.dataKeys.obtain('email\u0000', other)).toStrictEqual(other)
    })
  })

  test('a data key is replaced only while it is what the caller saw', async ({ store }) => {
    const [first, second, third] = [1, 2, 3].map((keyVersion) => ({ keyVersion, sealed: `sealed ${keyVersion}` }))
    if (first === undefined || second === undefined || third === undefined) throw new TypeError('Three keys are made.')
    expect(await store.dataKeys.replace('email', first, second)).toBe(false)
    await store.dataKeys.obtain('email', first)
    expect(await store.dataKeys.replace('other', first, second)).toBe(false)
    expect(await store.dataKeys.replace('email', { ...first, keyVersion: 9 }, second)).toBe(false)
    const replaced = await Promise.all([second, third].map((after) => store.dataKeys.replace('email', first, after)))
    expect(replaced.filter(Boolean)).toHaveLength(1)
    expect(await store.dataKeys.obtain('email', first)).toStrictEqual(replaced[0] ? second : third)
  })
}
