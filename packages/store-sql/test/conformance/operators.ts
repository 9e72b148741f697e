/** Tests: operators by name and link, and their sessions. Source: docs/decisions/operators.md. @module */
import type { OperatorRecord, SessionRecord } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch } from './fixtures.js'
import { hashOf, sessionTests } from './sessions.js'
import type { StoreTest } from './subject.js'

/** An operator who has not signed in yet. */
export function operator(changes: Partial<OperatorRecord> = {}): OperatorRecord {
  return {
    name: 'alice@shop.example',
    role: 'viewer',
    enabled: true,
    passphrase: null,
    link: { hash: hashOf(1), expiresAt: epoch + 10 },
    createdAt: epoch,
    ...changes,
  }
}
const bob = operator({ name: 'bob', role: 'admin', enabled: false, passphrase: '$scrypt$ln=17', link: null })

const getSession = (n: number, changes: Partial<SessionRecord> = {}): SessionRecord => ({
  ...{ hash: hashOf(n), operator: 'alice@shop.example', createdAt: epoch, expiresAt: epoch + n },
  ...changes,
})

const insertAll = (store: Store, ...records: readonly OperatorRecord[]) =>
  store.transaction(async ({ operators }) => {
    for (const record of records) expect(await operators.insert(record)).toBe(true)
  })
export function operatorTests(test: StoreTest): void {
  test('an operator is read with every field as stored', async ({ store }) => {
    await insertAll(store, bob, operator())
    expect(await store.operators.find('alice@shop.example')).toStrictEqual(operator())
    expect(await store.operators.find('bob')).toStrictEqual(bob)
    expect(await store.operators.findByLink(hashOf(1))).toStrictEqual(operator())
    await store.transaction(async ({ operators }) => {
      expect(await operators.find('bob')).toStrictEqual(bob)
      expect(await operators.findByLink(hashOf(1))).toStrictEqual(operator())
    })
    for (const name of ['', 'Alice@shop.example', 'alice', '%']) expect(await store.operators.find(name)).toBeNull()
    for (const hash of ['', hashOf(2), `${hashOf(1)} `]) expect(await store.operators.findByLink(hash)).toBeNull()
  })

  test('operators are listed by name, in the order of bytes', async ({ store }) => {
    expect(await store.operators.list()).toEqual([])
    const names = ['b', 'a.b', 'a', 'a-b', '0', 'a_b', 'ab']
    await insertAll(store, ...names.map((name) => operator({ name, link: null })))
    expect((await store.operators.list()).map(({ name }) => name)).toEqual(['0', 'a', 'a-b', 'a.b', 'a_b', 'ab', 'b'])
  })

  test('a taken name or link is not inserted, and its operator is unchanged', async ({ store }) => {
    await insertAll(store, operator())
    await store.transaction(async ({ operators }) => {
      expect(await operators.insert(operator({ role: 'admin', link: null }))).toBe(false)
      expect(await operators.insert(operator({ name: 'thief' }))).toBe(false)
    })
    expect(await store.operators.list()).toStrictEqual([operator()])
  })

  test('a change replaces the given fields alone; an unknown name resolves null', async ({ store }) => {
    await insertAll(store, operator(), bob)
    const changed = operator({ role: 'operator', passphrase: 'p', link: null })
    await store.transaction(async ({ operators }) => {
      expect(await operators.update('alice@shop.example', {})).toStrictEqual(operator())
      const role = { role: 'operator' } as const
      expect(await operators.update('alice@shop.example', role)).toStrictEqual(operator(role))
      expect(await operators.update('alice@shop.example', { passphrase: 'p', link: null })).toStrictEqual(changed)
      expect(await operators.update('nobody', { enabled: false })).toBeNull()
    })
    expect(await store.operators.find('alice@shop.example')).toStrictEqual(changed)
    expect(await store.operators.findByLink(hashOf(1))).toBeNull()
    const link = { hash: hashOf(3), expiresAt: epoch + 30 }
    await store.transaction(({ operators }) => operators.update('bob', { enabled: true, passphrase: null, link }))
    expect(await store.operators.findByLink(hashOf(3))).toStrictEqual({ ...bob, enabled: true, passphrase: null, link })
    expect(await store.operators.find('alice@shop.example')).toStrictEqual(changed)
  })

  test('a session is found with its operator, as the operator is now', async ({ store }) => {
    await insertAll(store, operator())
    const session = getSession(7, { createdAt: epoch + 3 })
    await store.transaction(({ operatorSessions }) => operatorSessions.insert(session))
    expect(await store.operators.findSession(hashOf(7))).toStrictEqual({ session, operator: operator() })
    await store.transaction(({ operators }) => operators.update('alice@shop.example', { role: 'admin' }))
    expect((await store.operators.findSession(hashOf(7)))?.operator.role).toBe('admin')
    for (const hash of ['', hashOf(8)]) expect(await store.operators.findSession(hash)).toBeNull()
  })

  sessionTests<SessionRecord>(test, {
    prepare: (store) => insertAll(store, operator(), bob),
    session: getSession,
    of: (owner, n) => getSession(n, { operator: owner === 'second' ? bob.name : 'nobody' }),
    find: ({ operators }, hash) => operators.findSession(hash),
    owner: operator().name,
    bind: ({ operatorSessions }) => operatorSessions,
  })
}
