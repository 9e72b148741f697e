/** Tests: sessions, of operators and of integrations alike. Source: docs/decisions/operators.md. @module */
import type { IntegrationSessionRecord, SessionTransaction, StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch, insertIntegration, integration, otherShop, shop, updateIntegration } from './fixtures.js'
import type { StoreTest } from './subject.js'

/** 64 hex digits, different for each number. */
export const hashOf = (n: number) => n.toString(16).padStart(64, '0')

/** Sessions of one kind of owner; the store has two owners. */
export interface SessionKind<Session> {
  /** Stores both owners. */
  prepare(store: Store): Promise<unknown>
  /** Session `n` of the first owner, with {@link hashOf} `n`, which expires `n` milliseconds after {@link epoch}. */
  session(n: number, changes?: { readonly createdAt: number }): Session
  /** Session `n` with the second owner of the store, or with an owner that the store does not have. */
  of(owner: 'second' | 'unknown', n: number): Session
  find(store: Store, hash: string): Promise<object | null>
  /** The first owner. */
  readonly owner: string
  bind(tx: StoreTransaction): SessionTransaction<Session>
}

export function sessionTests<Session>(test: StoreTest, kind: SessionKind<Session>): void {
  const { prepare, session, of, owner } = kind
  const within = <T>(store: Store, work: (sessions: SessionTransaction<Session>) => Promise<T>) =>
    store.transaction((tx) => work(kind.bind(tx)))
  const open = (store: Store, ...sessions: readonly Session[]) =>
    within(store, async ({ insert }) => {
      for (const each of sessions) await insert(each)
    })
  /** The numbers of those that are found. */
  const opened = async (store: Store) => {
    const found = await Promise.all([1, 2, 3, 4].map((n) => kind.find(store, hashOf(n))))
    return found.flatMap((each, n) => (each === null ? [] : [n + 1]))
  }

  test('a session with a taken hash or an unknown owner is rejected', async ({ store }) => {
    await prepare(store)
    await open(store, session(1))
    await expect(open(store, session(2), of('second', 1))).rejects.toThrow()
    await expect(open(store, of('unknown', 2))).rejects.toThrow()
    expect(await opened(store)).toEqual([1])
    expect(await kind.find(store, hashOf(1))).toMatchObject({ session: session(1) })
  })

  test('a deleted session is found no more, and is deleted once', async ({ store }) => {
    await prepare(store)
    await open(store, session(1), session(2))
    const remove = () => within(store, (sessions) => sessions.delete(hashOf(1)))
    expect([await remove(), await remove()]).toStrictEqual([session(1), null])
    expect(await opened(store)).toEqual([2])
  })

  test('the sessions of one owner are deleted, and no others', async ({ store }) => {
    await prepare(store)
    await open(store, session(1), session(2), of('second', 3))
    const remove = () => within(store, ({ deleteByOwner }) => deleteByOwner(owner))
    expect([await remove(), await remove()]).toEqual([2, 0])
    expect(await opened(store)).toEqual([3])
  })

  test('all but the newest sessions of one owner are deleted, and no others', async ({ store }) => {
    await prepare(store)
    await open(store, ...[3, 1, 2].map((n) => session(n, { createdAt: epoch + n })), of('second', 4))
    for (const [count, left] of [
      [3, [1, 2, 3, 4]],
      [2, [2, 3, 4]],
      [0, [4]],
    ] as const) {
      await within(store, ({ keepNewest }) => keepNewest(owner, count))
      expect(await opened(store)).toEqual(left)
    }
  })

  test('expired sessions are deleted at the millisecond of their end', async ({ store }) => {
    await prepare(store)
    await open(store, session(1), session(2), session(3))
    await within(store, ({ deleteExpired }) => deleteExpired(epoch + 2))
    expect(await opened(store)).toEqual([3])
  })
}

/** A session of the shop. */
export const getSession = (n: number, changes: Partial<IntegrationSessionRecord> = {}): IntegrationSessionRecord => ({
  ...{ hash: hashOf(n), integrationAddress: shop, apiSecretHash: 'ab'.repeat(32), createdAt: epoch },
  expiresAt: epoch + n,
  ...changes,
})
export function integrationSessionTests(test: StoreTest): void {
  test('a session is found with its integration, as the integration is now', async ({ store }) => {
    const record = integration({ previousApiSecret: { keyVersion: 1, hash: 'cd'.repeat(32), until: epoch + 9 } })
    await insertIntegration(store, record)
    const session = getSession(7, { createdAt: epoch + 3, apiSecretHash: 'cd'.repeat(32) })
    await store.transaction(({ integrationSessions }) => integrationSessions.insert(session))
    expect(await store.integrations.findSession(hashOf(7))).toStrictEqual({ session, integration: record })
    const change = { enabled: false, apiSecret: { keyVersion: 2, hash: 'ef'.repeat(32) } }
    await updateIntegration(store, shop, change)
    expect(await store.integrations.findSession(hashOf(7))).toMatchObject({ session, integration: change })
    for (const hash of ['', hashOf(8)]) expect(await store.integrations.findSession(hash)).toBeNull()
  })

  sessionTests<IntegrationSessionRecord>(test, {
    async prepare(store) {
      for (const address of [shop, otherShop]) await insertIntegration(store, integration({ address }))
    },
    session: getSession,
    of: (owner, n) => getSession(n, { integrationAddress: owner === 'second' ? otherShop : `0x${'99'.repeat(20)}` }),
    find: ({ integrations }, hash) => integrations.findSession(hash),
    owner: shop,
    bind: ({ integrationSessions }) => integrationSessions,
  })
}
