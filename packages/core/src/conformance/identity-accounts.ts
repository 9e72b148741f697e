/** Tests: accounts by e-mail address, and data keys. Source: INTERFACE 4.2 (account resolution order). @module */
import { expect } from 'vitest'
import type { AccountEvent, EmailAddress, IdentityAccount, StoredEmailCode } from '../ports/identity-accounts.js'
import type { Store } from '../ports/store.js'
import { shop } from './fixtures.js'
import { type StoreTest, withAnother } from './subject.js'

const email = (n: number, keyVersion = 1): EmailAddress => ({
  address: `user${n}@example.com`,
  key: n.toString(16).padStart(64, '0'),
  sealed: { keyVersion, sealed: `sealed ${n} ${keyVersion}` },
})
const storedCode = (hash: string): StoredEmailCode => ({
  hash: hash.padStart(64, 'a'),
  expiresAt: 2 ** 45,
  triesLeft: 5,
})
const held = (store: Store, n: number): Promise<IdentityAccount> =>
  store.transaction((tx) => tx.identityAccounts.hold(email(n), 'never used'))
const heldKnown = (store: Store, n: number, fresh = 'never used'): Promise<string | null> =>
  store.transaction((tx) => tx.identityAccounts.holdKnown(email(n).key, fresh))
const found = (store: Store, accountId: string) => store.transaction((tx) => tx.identityAccounts.find(accountId))
const register = (store: Store, n: number, accountId: string): Promise<void> =>
  store.transaction((tx) => tx.identityAccounts.register(email(n), accountId))
const own = (store: Store, n: number, accountId: string): Promise<void> =>
  store.transaction(async (tx) => {
    await tx.identityAccounts.hold(email(n), 'never used')
    await tx.identityAccounts.own(email(n), accountId)
  })
/** Gives the address to the account that it resolves to, as a claim by code does. */
const claim = (store: Store, n: number, fresh: string): Promise<string> =>
  store.transaction(async (tx) => {
    const { accountId } = await tx.identityAccounts.hold(email(n), fresh)
    await tx.identityAccounts.own(email(n), accountId)
    return accountId
  })
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

  test('who owns an address is who it resolves to, and a placeholder is registered by that', async ({ store }) => {
    const accountId = await accountOf(store, 1)
    const registered = { accountId, kind: 'registered', emailVerified: true }
    const placeholder = { accountId, kind: 'placeholder', emailVerified: false }
    expect(await held(store, 1)).toStrictEqual(placeholder)
    expect(await found(store, accountId)).toBeNull()
    await own(store, 1, accountId)
    expect(await held(store, 1)).toStrictEqual(registered)
    expect(await found(store, accountId)).toStrictEqual(registered)
    expect(await accountOf(store, 1)).toBe(accountId)
  })

  test('a registration carries its address, unless somebody has it already', async ({ store }) => {
    await register(store, 1, 'first')
    await register(store, 1, 'second')
    expect(await accountOf(store, 1)).toBe('first')
    expect(await held(store, 1)).toStrictEqual({ accountId: 'first', kind: 'registered', emailVerified: false })
    const placeholder = await accountOf(store, 2)
    await register(store, 2, 'third')
    expect(await accountOf(store, 2)).toBe(placeholder)
    await own(store, 1, 'second')
    await register(store, 1, 'fourth')
    expect(await accountOf(store, 1)).toBe('second')
    expect(await found(store, 'first')).toStrictEqual({ accountId: 'first', kind: 'registered', emailVerified: false })
  })

  test('an account that came to carry another address is no longer it', async ({ store }) => {
    await register(store, 1, 'mover')
    expect(await accountOf(store, 1)).toBe('mover')
    await own(store, 2, 'mover')
    const placeholder = await accountOf(store, 1)
    expect(placeholder).not.toBe('mover')
    expect(await accountOf(store, 1)).toBe(placeholder)
    expect(await accountOf(store, 2)).toBe('mover')
    await register(store, 3, 'leaver')
    await register(store, 3, 'stayer')
    await own(store, 4, 'leaver')
    expect(await accountOf(store, 3)).toBe('stayer')
  })

  test('an account carries the address that it registered with or proved last, until somebody else proves that', async ({
    store,
  }) => {
    const carried = (accountId: string) => store.transaction((tx) => tx.identityAccounts.carried(accountId))
    expect(await carried(await accountOf(store, 1))).toBeNull()
    expect(await carried('nobody')).toBeNull()
    await register(store, 1, 'first')
    await register(store, 1, 'second')
    expect([await carried('first'), await carried('second')]).toEqual([email(1).key, email(1).key])
    await own(store, 2, 'first')
    expect(await carried('first')).toBe(email(2).key)
    await own(store, 2, 'second')
    expect([await carried('first'), await carried('second')]).toEqual([null, email(2).key])
  })

  test('an account has proved an address once that is in the log, be it its own no more', async ({ store }) => {
    const proved = (accountId: string, n: number) =>
      store.transaction((tx) => tx.identityAccounts.hasProved(accountId, email(n).key))
    const log = (action: AccountEvent['action'], accountId: string | null, n: number) =>
      store.transaction((tx) =>
        tx.identityAccounts.log({
          ...{ at: 1, action, emailKey: email(n).key, accountId },
          ...{ proof: 'code', by: null, reason: null },
        }),
      )
    await register(store, 1, 'first')
    await log('registered', 'first', 1)
    await log('refused', 'first', 1)
    await log('claimed', 'second', 1)
    await log('claimed', 'first', 2)
    await log('code_issued', null, 3)
    expect(await proved('first', 1)).toBe(false)
    await log('claimed', 'first', 1)
    await own(store, 1, 'second')
    const asked = [proved('first', 1), proved('first', 2), proved('first', 3), proved('second', 2), proved('nobody', 1)]
    expect(await Promise.all(asked)).toEqual([true, true, false, false, false])
  })

  test('an address is held by its keyed hash as by itself, and one that was never resolved stays so', async ({
    store,
  }) => {
    expect(await heldKnown(store, 1)).toBeNull()
    const placeholder = await accountOf(store, 1)
    expect(placeholder).not.toBe('never used')
    expect(await heldKnown(store, 1)).toBe(placeholder)
    await register(store, 1, 'mover')
    expect(await heldKnown(store, 1)).toBe(placeholder)
    await own(store, 1, 'mover')
    expect(await heldKnown(store, 1)).toBe('mover')
    await register(store, 1, 'stayer')
    await own(store, 2, 'mover')
    expect(await heldKnown(store, 1)).toBe('stayer')
    expect(await accountOf(store, 1)).toBe('stayer')
    await own(store, 3, 'stayer')
    expect(await heldKnown(store, 1, 'fresh')).toBe('fresh')
    expect(await accountOf(store, 1)).toBe('fresh')
  })

  test('who holds an address by its keyed hash keeps it from everybody else until the transaction ends', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 5; round += 1) {
        await accountOf(one, round)
        const order: string[] = []
        let giving: Promise<unknown> | undefined
        const before = await one.transaction(async (tx) => {
          order.length = 0
          const holder = await tx.identityAccounts.holdKnown(email(round).key, 'never used')
          giving ??= own(two, round, `prover ${round}`).then(() => order.push('given'))
          await tx.identityAccounts.find('nobody')
          const again = await tx.identityAccounts.holdKnown(email(round).key, 'never used')
          order.push('held')
          return [holder, again]
        })
        await giving
        expect(before[0], `round ${round}`).toBe(before[1])
        expect(order, `round ${round}`).toEqual(['held', 'given'])
        expect(await heldKnown(one, round)).toBe(`prover ${round}`)
      }
    })
  })

  test('claims and shares of one address at once all end at one account', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      for (let round = 0; round < 5; round += 1) {
        const asked = Array.from({ length: 20 }, async (_, n) => {
          const store = n % 2 === 0 ? one : two
          return n % 4 < 2 ? accountOf(store, round) : claim(store, round, `fresh ${round} ${n}`)
        })
        expect(new Set(await Promise.all(asked)).size, `round ${round}`).toBe(1)
      }
    })
  })

  test('of accounts that prove one address at once the last one owns it, alone', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      const names = Array.from({ length: 10 }, (_, n) => `prover ${n}`)
      for (const name of names) await register(one, 1, name)
      await Promise.all(names.map((name, n) => own(n % 2 === 0 ? one : two, 1, name)))
      const owner = await accountOf(one, 1)
      expect(names).toContain(owner)
      const verified = await Promise.all(names.map(async (name) => (await found(one, name))?.emailVerified))
      expect(verified).toEqual(names.map((name) => name === owner))
    })
  })

  test('a code is kept until it is replaced or taken away, and a transaction that fails changes none', async ({
    store,
  }) => {
    const [first, second] = [storedCode('1'), { ...storedCode('2'), triesLeft: 1 }]
    const codeOf = (n: number) => store.transaction((tx) => tx.identityAccounts.code(email(n).key))
    const setCode = (code: StoredEmailCode | null) =>
      store.transaction((tx) => tx.identityAccounts.setCode(email(1).key, code))
    expect(await codeOf(1)).toBeNull()
    await setCode(first)
    expect(await codeOf(1)).toStrictEqual(first)
    expect(await codeOf(2)).toBeNull()
    await setCode(second)
    expect(await codeOf(1)).toStrictEqual(second)
    const failing = store.transaction(async (tx) => {
      await tx.identityAccounts.setCode(email(1).key, null)
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(await codeOf(1)).toStrictEqual(second)
    await setCode(null)
    expect(await codeOf(1)).toBeNull()
  })

  test('of ten who take a code at once one finds it', async (subject) => {
    await withAnother(subject, async ([one = subject.store, two = subject.store]) => {
      const { key } = email(1)
      await one.transaction((tx) => tx.identityAccounts.setCode(key, storedCode('1')))
      const take = (store: Store) =>
        store.transaction(async (tx) => {
          const code = await tx.identityAccounts.code(key)
          if (code !== null) await tx.identityAccounts.setCode(key, null)
          return code
        })
      const taken = await Promise.all(Array.from({ length: 10 }, (_, n) => take(n % 2 === 0 ? one : two)))
      expect(taken.filter((code) => code !== null)).toStrictEqual([storedCode('1')])
    })
  })

  test('the log of accounts is read newest first, whole or by address', async ({ store }) => {
    const event = (n: number, of: Partial<AccountEvent>): AccountEvent => ({
      ...{ at: n, action: 'registered', emailKey: email(n % 2).key, accountId: `account\u0000 ${n}` },
      ...{ proof: null, by: null, reason: null },
      ...of,
    })
    const logged = [
      event(1, {}),
      event(2, { action: 'claimed', proof: 'attestation', by: shop }),
      event(3, { action: 'refused', accountId: null, proof: 'code', reason: 'code_wrong' }),
      event(4, { action: 'verified', emailKey: null }),
    ]
    for (const each of logged) await store.transaction((tx) => tx.identityAccounts.log(each))
    expect(await store.identityAccounts.events({ limit: 10 })).toStrictEqual([...logged].reverse())
    expect(await store.identityAccounts.events({ limit: 2 })).toStrictEqual(logged.slice(2).reverse())
    const ofOne = await store.identityAccounts.events({ emailKey: email(1).key, limit: 10 })
    expect(ofOne).toStrictEqual([logged[2], logged[0]])
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
