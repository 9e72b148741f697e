/** Tests: sessions of integrations at the portal. Source: docs/decisions/operators.md. @module */

import type { IntegrationSessionRecord } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch, integration, otherShop, shop } from './fixtures.js'
import type { StoreTest } from './subject.js'

const hashOf = (n: number) => n.toString(16).padStart(64, '0')

const getSession = (n: number, changes: Partial<IntegrationSessionRecord> = {}): IntegrationSessionRecord => ({
  hash: hashOf(n),
  integrationAddress: shop,
  apiSecretHash: 'ab'.repeat(32),
  createdAt: epoch,
  expiresAt: epoch + n,
  ...changes,
})

const open = (store: Store, ...sessions: readonly IntegrationSessionRecord[]) =>
  store.transaction(async ({ integrationSessions }) => {
    for (const session of sessions) await integrationSessions.insert(session)
  })
const openHashes = async (store: Store, upTo: number) => {
  const all = Array.from({ length: upTo }, (_, n) => hashOf(n + 1))
  const found = await Promise.all(all.map((hash) => store.integrationSessions.find(hash)))
  return found.flatMap((each, n) => (each === null ? [] : [n + 1]))
}
export function integrationSessionTests(test: StoreTest): void {
  test('a session is found with its integration, as the integration is now', async ({ store }) => {
    const record = integration({ previousApiSecret: { keyVersion: 1, hash: 'cd'.repeat(32), until: epoch + 9 } })
    await store.integrations.insert(record)
    const session = getSession(7, { createdAt: epoch + 3, apiSecretHash: 'cd'.repeat(32) })
    await open(store, session)
    expect(await store.integrationSessions.find(hashOf(7))).toStrictEqual({ session, integration: record })
    await store.integrations.update(shop, { enabled: false, apiSecret: { keyVersion: 2, hash: 'ef'.repeat(32) } })
    expect(await store.integrationSessions.find(hashOf(7))).toMatchObject({
      session,
      integration: { enabled: false, apiSecret: { keyVersion: 2, hash: 'ef'.repeat(32) } },
    })
    for (const hash of ['', hashOf(8)]) expect(await store.integrationSessions.find(hash)).toBeNull()
  })

  test('a session with a taken hash or an unknown integration is rejected', async ({ store }) => {
    for (const address of [shop, otherShop]) await store.integrations.insert(integration({ address }))
    await open(store, getSession(1))
    await expect(open(store, getSession(2), getSession(1, { integrationAddress: otherShop }))).rejects.toThrow()
    await expect(open(store, getSession(2, { integrationAddress: `0x${'99'.repeat(20)}` }))).rejects.toThrow()
    expect(await openHashes(store, 3)).toEqual([1])
    expect((await store.integrationSessions.find(hashOf(1)))?.integration.address).toBe(shop)
  })

  test('a deleted session is found no more, and is deleted once', async ({ store }) => {
    await store.integrations.insert(integration())
    await open(store, getSession(1), getSession(2))
    const remove = () => store.transaction(({ integrationSessions }) => integrationSessions.delete(hashOf(1)))
    expect(await remove()).toStrictEqual(getSession(1))
    expect(await remove()).toBeNull()
    expect(await openHashes(store, 3)).toEqual([2])
  })

  test('the sessions of one integration are deleted, and no others', async ({ store }) => {
    for (const address of [shop, otherShop]) await store.integrations.insert(integration({ address }))
    await open(store, getSession(1), getSession(2), getSession(3, { integrationAddress: otherShop }))
    const remove = () => store.transaction(({ integrationSessions }) => integrationSessions.deleteByIntegration(shop))
    expect([await remove(), await remove()]).toEqual([2, 0])
    expect(await openHashes(store, 4)).toEqual([3])
  })

  test('all but the newest sessions of one integration are deleted, and no others', async ({ store }) => {
    for (const address of [shop, otherShop]) await store.integrations.insert(integration({ address }))
    const opened = [3, 1, 2].map((n) => getSession(n, { createdAt: epoch + n }))
    await open(store, ...opened, getSession(4, { integrationAddress: otherShop }))
    const keep = (count: number) =>
      store.transaction(({ integrationSessions }) => integrationSessions.keepNewest(shop, count))
    for (const [count, left] of [
      [3, [1, 2, 3, 4]],
      [2, [2, 3, 4]],
      [0, [4]],
    ] as const) {
      await keep(count)
      expect(await openHashes(store, 4)).toEqual(left)
    }
  })

  test('expired sessions are deleted at the millisecond of their end', async ({ store }) => {
    await store.integrations.insert(integration())
    await open(store, getSession(1), getSession(2), getSession(3))
    await store.transaction(({ integrationSessions }) => integrationSessions.deleteExpired(epoch + 2))
    expect(await openHashes(store, 4)).toEqual([3])
  })

  test('a rejected transaction changes no session', async ({ store }) => {
    await store.integrations.insert(integration())
    await open(store, getSession(1))
    const failed = store.transaction(async ({ integrationSessions }) => {
      await integrationSessions.insert(getSession(2))
      await integrationSessions.deleteByIntegration(shop)
      throw new Error('stop')
    })
    await expect(failed).rejects.toThrow('stop')
    expect(await openHashes(store, 2)).toEqual([1])
  })
}
