/** Tests: accounts by handle and by address. Source: docs/interface.md 2.4, 4.3. @module */
import type { AccountRecord, AccountTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { address, epoch } from './fixtures.js'
import type { StoreTest } from './subject.js'

const [home, elsewhere, third] = [address(0xacc0), address(0xacc1), address(0xacc2)]
const token = address(0x70)

/** The account of the shop. */
export function account(changes: Partial<AccountRecord> = {}): AccountRecord {
  return { handle: 'shop', address: home, config: { coins: [] }, createdAt: epoch, ...changes }
}

const coin = (chainId: number, defaultAddress?: string) => ({
  chainId,
  tokens: [{ symbol: 'USDC', address: token }],
  ...(defaultAddress === undefined ? {} : { defaultAddress }),
})

/** One of everything that a configuration may hold, with text that databases are known to spoil. */
const full = account({
  config: {
    coins: [coin(1), coin(137, elsewhere), { chainId: 10, tokens: [{ symbol: 'U\u0000 \ud800 "\\' }] }],
    onCompleteAction: { type: 'REDIRECT', payload: { url: 'https://shop.example/?q=\u0000' } },
  },
})

/** Changes, each in a transaction of its own. */
const changing = (store: Store): Omit<AccountTransaction, 'find'> => ({
  insert: (record) => store.transaction((tx) => tx.accounts.insert(record)),
  update: (handle, change) => store.transaction((tx) => tx.accounts.update(handle, change)),
  remove: (handle) => store.transaction((tx) => tx.accounts.remove(handle)),
})

const handles = (records: readonly AccountRecord[]) => records.map(({ handle }) => handle)
const at = async (store: Store, where: string) => handles(await store.accounts.findByAddress(where))
export function accountTests(test: StoreTest): void {
  test('an account is read with every field as stored', async ({ store }) => {
    expect(await changing(store).insert(full)).toBe(true)
    expect(await store.accounts.find('shop')).toStrictEqual(full)
    expect(await store.accounts.findByAddress(home)).toStrictEqual([full])
    expect(await store.accounts.list()).toStrictEqual([full])
  })

  test('an unknown handle or address is not found', async ({ store }) => {
    await changing(store).insert(full)
    for (const handle of ['', 'sho', 'shop ', 'Shop', '%', 'shop\u0000', '\ud800'])
      expect(await store.accounts.find(handle)).toBeNull()
    expect(await at(store, token)).toEqual([])
    expect(await at(store, '')).toEqual([])
    expect(await changing(store).update('nobody', { address: third })).toBeNull()
    expect(await changing(store).remove('nobody')).toBe(false)
  })

  test('a taken handle is rejected and keeps its record and addresses', async ({ store }) => {
    await changing(store).insert(full)
    expect(await changing(store).insert(account({ address: third, config: { coins: [coin(1, third)] } }))).toBe(false)
    expect(await store.accounts.find('shop')).toEqual(full)
    expect(await at(store, third)).toEqual([])
  })

  test('an account is found by its own address and by every default address of its coins, once', async ({ store }) => {
    const coins = [coin(1, elsewhere), coin(10, third), coin(137, third)]
    await changing(store).insert(account({ config: { coins } }))
    for (const where of [home, elsewhere, third]) expect(await at(store, where)).toEqual(['shop'])
    await changing(store).insert(account({ handle: 'own', config: { coins: [coin(1, home)] } }))
    expect(await at(store, home)).toEqual(['own', 'shop'])
  })

  test('accounts are listed, and found by an address that they share, by handle', async ({ store }) => {
    const order = ['0', '9', 'a', 'a!', 'ab', 'b', 'z-z', '\u00e9']
    for (const handle of ['b', 'ab', '0', '\u00e9', 'a', 'z-z', 'a!', '9'])
      await changing(store).insert(account({ handle }))
    expect(handles(await store.accounts.list())).toEqual(order)
    expect(await at(store, home)).toEqual(order)
  })

  test('an update replaces the fields given and no other, and moves where the account is found', async ({ store }) => {
    await changing(store).insert(full)
    await changing(store).insert(account({ handle: 'other' }))
    for (const [change, found] of [
      [{}, [home, elsewhere]],
      [{ address: third }, [third, elsewhere]],
      [{ config: { coins: [] } }, [third]],
      [{ address: elsewhere, config: { coins: [coin(1, home), coin(2, home)] } }, [elsewhere, home]],
      [{ address: home }, [home]],
    ] as const) {
      const before = await store.accounts.find('shop')
      const after = await changing(store).update('shop', change as Partial<AccountRecord>)
      expect(after).toEqual({ ...before, ...change })
      expect(await store.accounts.find('shop')).toEqual(after)
      for (const where of [home, elsewhere, third])
        expect((await at(store, where)).includes('shop')).toBe((found as readonly string[]).includes(where))
    }
    expect(await store.accounts.find('other')).toEqual(account({ handle: 'other' }))
    expect(await at(store, home)).toEqual(['other', 'shop'])
  })

  test('a removed account is found no more, and its handle is free', async ({ store }) => {
    await changing(store).insert(full)
    await changing(store).insert(account({ handle: 'other' }))
    expect(await changing(store).remove('shop')).toBe(true)
    expect(await changing(store).remove('shop')).toBe(false)
    expect(await store.accounts.find('shop')).toBeNull()
    expect(await at(store, elsewhere)).toEqual([])
    expect(await at(store, home)).toEqual(['other'])
    expect(await changing(store).insert(account({ address: third }))).toBe(true)
    expect(await at(store, home)).toEqual(['other'])
  })

  test('concurrent updates and removals leave an account with its addresses, or nothing', async ({ store }) => {
    for (let round = 0; round < 5; round += 1) {
      await changing(store).insert(account())
      const changes = [1, 2, 3, 4].map((n) => changing(store).update('shop', { address: address(n) }))
      const [removed] = await Promise.all([changing(store).remove('shop'), ...changes])
      expect(removed).toBe(true)
      for (const where of [home, ...[1, 2, 3, 4].map(address)]) expect(await at(store, where)).toEqual([])
    }
    await changing(store).insert(account())
    await Promise.all([1, 2, 3, 4].map((n) => changing(store).update('shop', { address: address(n) })))
    const kept = await store.accounts.find('shop')
    for (const n of [1, 2, 3, 4])
      expect(await at(store, address(n))).toEqual(kept?.address === address(n) ? ['shop'] : [])
  })
}
