/** Tests: the audit log, and the changes that are written together with it. @module */
import { expect } from 'vitest'
import type { StoreTransaction } from '../src/ports/store-transaction.js'
import { append, appendIn, bySeq, chainOf, keysOfOthers, numbersOf, record, seqsOf } from './audit-records.js'
import { epoch, integration, shop } from './fixtures.js'
import { type StoreTest, withAnother } from './subject.js'

/** Registers the tests. */
export function auditTests(test: StoreTest): void {
  for (const [whose, key] of [
    ['the service', null],
    ['an integration', shop],
  ] as const) {
    test(`records of ${whose} come back as they were given, in their order, page by page`, async ({ store }) => {
      const chain = await chainOf(store, key)
      const numbers = numbersOf(store, chain, 12)
      const [one = 0, two = 0, three = 0] = numbers
      expect(await store.audit.list({ chain, limit: 10 })).toEqual([])
      expect(await store.audit.newest(chain)).toBeNull()
      const strange = { action: 'deliveries.replayed', subject: 'all \ud800' } as const
      expect(await append(store, key)).toBeNull()
      expect(await append(store, key, strange)).toEqual(record(one))
      for (let n = 3; n <= 12; n += 1) await append(store, key)
      const second = record(two, strange)
      expect(await store.audit.list({ chain, limit: 2 })).toEqual([record(one), second])
      expect(await store.audit.list({ chain, afterSeq: one, limit: 2 })).toEqual([second, record(three)])
      expect(seqsOf(await store.audit.list({ chain, afterSeq: two, limit: 100 }))).toEqual(numbers.slice(2))
      expect(await store.audit.list({ chain, afterSeq: numbers[11] ?? 0, limit: 100 })).toEqual([])
      expect(await store.audit.newest(chain)).toEqual(record(numbers[11] ?? 0))
    })

    test(`the oldest records of ${whose} are removed and stored again, and the next one follows the newest`, async ({
      store,
    }) => {
      const chain = await chainOf(store, key)
      const [, two = 0, three = 0, four = 0, ...rest] = numbersOf(store, chain, 6)
      for (const other of await keysOfOthers(store, chain)) await append(store, other)
      const others = await store.audit.list({ limit: 99 })
      for (let n = 1; n <= 5; n += 1) await append(store, key)
      await store.transaction(async (tx) => {
        await tx.lockAudit(key)
        await tx.removeAudit(three)
      })
      expect(seqsOf(await store.audit.list({ chain, limit: 9 }))).toEqual([four, rest[0]])
      await append(store, key)
      await store.transaction(async (tx) => {
        await tx.lockAudit(key)
        await tx.restoreAudit([record(two), record(three), record(four, { subject: 'else' })])
      })
      const restored = [two, three, four, ...rest].map((seq) => record(seq))
      expect(await store.audit.list({ chain, limit: 9 })).toEqual(restored)
      expect(await store.audit.list({ limit: 99 })).toEqual([...others, ...restored].sort(bySeq))
    })

    test(`several records of ${whose} in one transaction follow each other`, async ({ store }) => {
      const [one = 0, two = 0] = numbersOf(store, await chainOf(store, key), 2)
      await store.transaction(async (tx) => {
        await tx.lockAudit(key)
        await tx.appendAudit(record(one))
        await tx.appendAudit(record(two))
        expect((await tx.lockAudit(key)).newest).toEqual(record(two))
      })
      expect(await store.audit.list({ limit: 10 })).toEqual([record(one), record(two)])
    })

    test(`40 records of ${whose} added at once by two stores have one step, each on top of the one before`, async (subject) => {
      const numbers = numbersOf(subject.store, await chainOf(subject.store, key), 40)
      await withAnother(subject, async (stores) => {
        const newest = await Promise.all(
          numbers.map((_, n) => {
            const store = stores[n % 2]
            if (store === undefined) throw new Error('There are two stores.')
            return append(store, key)
          }),
        )
        const seen = newest.map((last) => last?.seq ?? 0).sort((a, b) => a - b)
        expect(seen).toEqual([0, ...numbers.slice(0, -1)])
        expect(seqsOf(await subject.store.audit.list({ limit: 100 }))).toEqual(numbers)
      })
    })

    test(`a record of ${whose} out of order, or without the lock, is refused`, async ({ store }) => {
      const [one = 0, two = 0] = numbersOf(store, await chainOf(store, key), 2)
      const wrong: ((tx: StoreTransaction) => Promise<void>)[] = [
        (tx) => tx.appendAudit(record(one)),
        async (tx) => {
          await tx.lockAudit(key)
          await tx.appendAudit(record(two))
        },
        async (tx) => {
          await tx.lockAudit(key)
          await tx.appendAudit(record(one))
          await tx.appendAudit(record(one))
        },
      ]
      for (const work of wrong) await expect(store.transaction(work)).rejects.toThrow(RangeError)
      expect(await store.audit.list({ limit: 10 })).toEqual([])
    })
  }

  test('integrations and keys change together with their record, or not at all', async ({ store }) => {
    const key = {
      id: 'key-1',
      name: 'K',
      secret: { keyVersion: 1, hash: 'ab'.repeat(32) },
      createdAt: epoch,
      revokedAt: null,
    }
    const change = async (tx: StoreTransaction) => {
      expect(await tx.integrations.find(shop)).toBeNull()
      expect(await tx.integrations.insert(integration())).toBe(true)
      expect(await tx.integrations.insert(integration())).toBe(false)
      expect(await tx.integrations.update(shop, { name: 'New' })).toEqual(integration({ name: 'New' }))
      expect(await tx.integrations.update(shop, { name: 'Thief' }, { apiSecretHash: '0' })).toBeNull()
      expect(await tx.integrations.list()).toEqual([integration({ name: 'New' })])
      expect(await tx.legacyKeys.insert(key)).toBe(true)
      expect(await tx.legacyKeys.insert(key)).toBe(false)
      expect(await tx.legacyKeys.revoke('key-1', epoch + 1)).toEqual({ ...key, revokedAt: epoch + 1 })
      expect(await tx.legacyKeys.revoke('key-2', epoch)).toBeNull()
      expect(await tx.legacyKeys.list()).toEqual([{ ...key, revokedAt: epoch + 1 }])
      await appendIn(tx, shop)
    }
    const failing = store.transaction(async (tx) => {
      await change(tx)
      throw new Error('Stop.')
    })
    await expect(failing).rejects.toThrow('Stop.')
    expect([
      await store.integrations.list(),
      await store.legacyKeys.list(),
      await store.audit.list({ limit: 1 }),
    ]).toEqual([[], [], []])
    await store.transaction(change)
    expect(await store.integrations.find(shop)).toEqual(integration({ name: 'New' }))
    expect(await store.legacyKeys.list()).toHaveLength(1)
    const [first = 0] = numbersOf(store, await chainOf(store, shop), 1)
    expect(await store.audit.list({ limit: 10 })).toEqual([record(first)])
  })
}
