/** Tests: operators by name and link, and their sessions. Source: docs/decisions/operators.md. @module */

import type { OperatorRecord, SessionRecord } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch } from './fixtures.js'
import { type StoreTest, withAnother } from './subject.js'

const hashOf = (n: number) => n.toString(16).padStart(64, '0')

function operator(changes: Partial<OperatorRecord> = {}): OperatorRecord {
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
  hash: hashOf(n),
  operator: 'alice@shop.example',
  createdAt: epoch,
  expiresAt: epoch + n,
  ...changes,
})

const insertAll = (store: Store, ...records: readonly OperatorRecord[]) =>
  store.transaction(async ({ operators }) => {
    for (const record of records) expect(await operators.insert(record)).toBe(true)
  })
const open = (store: Store, ...sessions: readonly SessionRecord[]) =>
  store.transaction(async ({ operators }) => {
    for (const session of sessions) await operators.insertSession(session)
  })
const openHashes = async (store: Store, upTo: number) => {
  const all = Array.from({ length: upTo }, (_, n) => hashOf(n + 1))
  const found = await Promise.all(all.map((hash) => store.operators.findSession(hash)))
  return found.flatMap((each, n) => (each === null ? [] : [n + 1]))
}
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

  test('of ten inserts of one name at once one wins', async (subject) => {
    await withAnother(subject, async (stores) => {
      const given = Array.from({ length: 10 }, (_, n) => operator({ link: { hash: hashOf(n), expiresAt: epoch } }))
      const wins = await Promise.all(
        given.map((one, n) => stores[n % 2]?.transaction(({ operators }) => operators.insert(one))),
      )
      expect(wins.filter(Boolean)).toHaveLength(1)
    })
  })

  test('a change replaces the given fields alone; an unknown name resolves null', async ({ store }) => {
    await insertAll(store, operator(), bob)
    const changed = operator({ role: 'operator', passphrase: 'p', link: null })
    await store.transaction(async ({ operators }) => {
      expect(await operators.update('alice@shop.example', {})).toStrictEqual(operator())
      expect(await operators.update('alice@shop.example', { role: 'operator' })).toStrictEqual(
        operator({ role: 'operator' }),
      )
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
    await open(store, session)
    expect(await store.operators.findSession(hashOf(7))).toStrictEqual({ session, operator: operator() })
    await store.transaction(({ operators }) => operators.update('alice@shop.example', { role: 'admin' }))
    expect((await store.operators.findSession(hashOf(7)))?.operator.role).toBe('admin')
    for (const hash of ['', hashOf(8)]) expect(await store.operators.findSession(hash)).toBeNull()
  })

  test('a session with a taken hash or an unknown operator is rejected', async ({ store }) => {
    await insertAll(store, operator(), bob)
    await open(store, getSession(1))
    await expect(open(store, getSession(2), getSession(1, { operator: 'bob' }))).rejects.toThrow()
    await expect(open(store, getSession(2, { operator: 'nobody' }))).rejects.toThrow()
    expect(await openHashes(store, 3)).toEqual([1])
    expect((await store.operators.findSession(hashOf(1)))?.operator.name).toBe('alice@shop.example')
  })

  test('a deleted session is found no more, and is deleted once', async ({ store }) => {
    await insertAll(store, operator())
    await open(store, getSession(1), getSession(2))
    const remove = () => store.transaction(({ operators }) => operators.deleteSession(hashOf(1)))
    expect(await remove()).toStrictEqual(getSession(1))
    expect(await remove()).toBeNull()
    expect(await openHashes(store, 3)).toEqual([2])
  })

  test('the sessions of one operator are deleted, and no others', async ({ store }) => {
    await insertAll(store, operator(), bob)
    await open(store, getSession(1), getSession(2), getSession(3, { operator: 'bob' }))
    const removed = () => store.transaction(({ operators }) => operators.deleteSessionsByOperator('alice@shop.example'))
    expect([await removed(), await removed()]).toEqual([2, 0])
    expect(await openHashes(store, 4)).toEqual([3])
  })

  test('all but the newest sessions of one operator are deleted, and no others', async ({ store }) => {
    await insertAll(store, operator(), bob)
    const opened = [3, 1, 2].map((n) => getSession(n, { createdAt: epoch + n }))
    await open(store, ...opened, getSession(4, { operator: bob.name }))
    await store.transaction(({ operators }) => operators.keepNewestSessions(operator().name, 2))
    expect(await openHashes(store, 4)).toEqual([2, 3, 4])
  })

  test('expired sessions are deleted at the millisecond of their end', async ({ store }) => {
    await insertAll(store, operator())
    await open(store, getSession(1), getSession(2), getSession(3))
    await store.transaction(({ operators }) => operators.deleteExpiredSessions(epoch + 2))
    expect(await openHashes(store, 4)).toEqual([3])
  })

  test('a rejected transaction changes no operator and no session', async ({ store }) => {
    await insertAll(store, operator())
    await open(store, getSession(1))
    const failed = store.transaction(async ({ operators }) => {
      await operators.insert(bob)
      await operators.update('alice@shop.example', { role: 'admin', link: null })
      await operators.deleteSessionsByOperator('alice@shop.example')
      throw new Error('stop')
    })
    await expect(failed).rejects.toThrow('stop')
    expect(await store.operators.list()).toStrictEqual([operator()])
    expect(await openHashes(store, 2)).toEqual([1])
  })
}
