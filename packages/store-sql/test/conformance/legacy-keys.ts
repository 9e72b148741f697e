/** Tests: API keys of the legacy endpoints by id and by hash. Source: docs/interface.md 5 (legacy API). @module */
import type { LegacyKeyRecord } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch } from './fixtures.js'
import type { StoreTest } from './subject.js'

const hashOf = (n: number) => n.toString(16).padStart(64, '0')
const secret = (n: number, keyVersion = 1) => ({ keyVersion, hash: hashOf(n) })

/** A key that is not revoked. */
export function legacyKey(changes: Partial<LegacyKeyRecord> = {}): LegacyKeyRecord {
  return {
    id: 'key-1',
    name: 'K\u00e4se & "Co" \u0000 \ud800',
    secret: secret(1),
    createdAt: epoch,
    revokedAt: null,
    ...changes,
  }
}

/** Stores a key; false if its id or hash is taken. */
const insertKey = (store: Store, record = legacyKey()) => store.transaction((tx) => tx.legacyKeys.insert(record))
const revokeKey = (store: Store, id: string, at: number) => store.transaction((tx) => tx.legacyKeys.revoke(id, at))

export function legacyKeyTests(test: StoreTest): void {
  test('a key is read with every field as stored', async ({ store }) => {
    const revoked = legacyKey({ id: 'key-2', secret: secret(2, 2 ** 32 - 1), revokedAt: epoch + 1 })
    expect(await insertKey(store)).toBe(true)
    expect(await insertKey(store, revoked)).toBe(true)
    expect(await store.legacyKeys.findByHash([secret(1)])).toStrictEqual(legacyKey())
    expect(await store.legacyKeys.findByHash([revoked.secret])).toStrictEqual(revoked)
    expect(await store.legacyKeys.list()).toStrictEqual([legacyKey(), revoked])
  })

  test('a key is found by any of several hashes, under their own key version only', async ({ store }) => {
    await insertKey(store)
    const found = async (...hashes: Parameters<typeof store.legacyKeys.findByHash>[0]) =>
      (await store.legacyKeys.findByHash(hashes))?.id ?? null
    expect(await found(secret(1))).toBe('key-1')
    expect(await found(secret(7, 3), secret(1), secret(8, 2))).toBe('key-1')
    expect(await found(secret(7, 3), secret(8, 2), secret(1))).toBe('key-1')
    expect(await found(secret(1, 2))).toBeNull()
    expect(await found(secret(2), secret(1, 2))).toBeNull()
    expect(await found()).toBeNull()
    for (const hash of ['', '%', hashOf(1).slice(1), `${hashOf(1)} `])
      expect(await found({ keyVersion: 1, hash })).toBeNull()
    await insertKey(store, legacyKey({ id: 'key-2', secret: secret(1, 2) }))
    expect(await found(secret(1, 2))).toBe('key-2')
    expect(await found(secret(1))).toBe('key-1')
  })

  test('a taken id or hash is rejected and keeps its record', async ({ store }) => {
    await insertKey(store)
    expect(await insertKey(store, legacyKey({ name: 'Thief', secret: secret(2) }))).toBe(false)
    expect(await insertKey(store, legacyKey({ id: 'key-2', name: 'Thief' }))).toBe(false)
    expect(await store.legacyKeys.list()).toEqual([legacyKey()])
  })

  test('keys are listed oldest first, then by id', async ({ store }) => {
    for (const [n, [id, age]] of Object.entries({ b: 2, z: 1, a: 2, 'a!': 2, c: 0 }).entries())
      await insertKey(store, legacyKey({ id, secret: secret(n), createdAt: epoch + age }))
    expect((await store.legacyKeys.list()).map(({ id }) => id)).toEqual(['c', 'z', 'a', 'a!', 'b'])
  })

  test('a revoked key is still found, and keeps the time of its first revocation', async ({ store }) => {
    await insertKey(store)
    await insertKey(store, legacyKey({ id: 'key-2', secret: secret(2) }))
    const revoked = legacyKey({ revokedAt: epoch + 5 })
    expect(await revokeKey(store, 'key-1', epoch + 5)).toEqual(revoked)
    expect(await revokeKey(store, 'key-1', epoch + 9)).toEqual(revoked)
    expect(await store.legacyKeys.findByHash([secret(1)])).toEqual(revoked)
    expect((await store.legacyKeys.findByHash([secret(2)]))?.revokedAt).toBeNull()
  })

  test('an unknown id of any form is not revoked', async ({ store }) => {
    await insertKey(store)
    for (const id of ['', 'KEY-1', 'key-1 ', '\u0000', '\ud800', '%'])
      expect(await revokeKey(store, id, epoch)).toBeNull()
    expect(await store.legacyKeys.list()).toEqual([legacyKey()])
  })

  test('of ten concurrent revocations the first one counts', async ({ store }) => {
    await insertKey(store)
    const records = await Promise.all(Array.from({ length: 10 }, (_, n) => revokeKey(store, 'key-1', epoch + n)))
    expect(new Set(records.map((record) => record?.revokedAt)).size).toBe(1)
  })
}
