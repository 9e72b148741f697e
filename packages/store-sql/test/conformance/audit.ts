/** Tests: the audit log, and the changes that are written together with it. @module */
import type { AuditRecord, StoreTransaction } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect } from 'vitest'
import { epoch, shop } from './fixtures.js'
import type { StoreTest } from './subject.js'

/** The record with a number. */
export const auditRecord = (seq: number, changes: Partial<AuditRecord> = {}): AuditRecord => ({
  seq,
  at: epoch + seq,
  actor: 'K\u00e4se \u0000 \ud800 "',
  action: 'integration.url_set',
  subject: shop,
  details: { url: 'https://shop.example/', count: 3, on: true, none: null, 'odd " \u0000': '' },
  keyVersion: 2 ** 32 - 1,
  hash: seq.toString(16).padStart(64, '0'),
  ...changes,
})

async function append(store: Store, changes: Partial<AuditRecord> = {}): Promise<AuditRecord | null> {
  return store.transaction(async (tx) => {
    const last = await tx.lockAudit()
    await tx.appendAudit(auditRecord((last?.seq ?? 0) + 1, changes))
    return last
  })
}
export function auditTests(test: StoreTest): void {
  test('records come back as they were given, in their order, page by page', async ({ store }) => {
    expect(await store.audit.list({ limit: 10 })).toEqual([])
    expect(await store.audit.newest()).toBeNull()
    expect(await append(store)).toBeNull()
    expect(await append(store, { action: 'deliveries.replayed', subject: 'all \ud800' })).toEqual(auditRecord(1))
    for (let n = 3; n <= 12; n += 1) await append(store)
    const second = auditRecord(2, { action: 'deliveries.replayed', subject: 'all \ud800' })
    expect(await store.audit.list({ limit: 2 })).toEqual([auditRecord(1), second])
    expect(await store.audit.list({ afterSeq: 1, limit: 2 })).toEqual([second, auditRecord(3)])
    const rest = await store.audit.list({ afterSeq: 2, limit: 100 })
    expect(rest.map(({ seq }) => seq)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(await store.audit.list({ afterSeq: 12, limit: 100 })).toEqual([])
    expect(await store.audit.newest()).toEqual(auditRecord(12))
  })

  test('the oldest records are removed and restored exactly; the next one follows the newest', async ({ store }) => {
    for (let n = 1; n <= 5; n += 1) await append(store)
    await store.transaction(async (tx) => {
      await tx.lockAudit()
      await tx.removeAudit(3)
    })
    expect(await store.audit.list({ limit: 9 })).toEqual([auditRecord(4), auditRecord(5)])
    await append(store)
    await store.transaction(async (tx) => {
      await tx.lockAudit()
      await tx.restoreAudit([auditRecord(2), auditRecord(3), auditRecord(4, { subject: 'else' })])
    })
    expect(await store.audit.list({ limit: 9 })).toEqual([2, 3, 4, 5, 6].map((seq) => auditRecord(seq)))
  })

  test('several records of one transaction follow each other', async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.lockAudit()
      await tx.appendAudit(auditRecord(1))
      await tx.appendAudit(auditRecord(2))
      expect(await tx.lockAudit()).toEqual(auditRecord(2))
    })
    expect(await store.audit.list({ limit: 10 })).toEqual([auditRecord(1), auditRecord(2)])
  })

  test('40 records added at once by two stores are numbered without a gap', async ({ store, twoStores }) => {
    const stores = await twoStores()
    const lasts = await Promise.all(Array.from({ length: 40 }, (_, n) => append(stores[n % 2 === 0 ? 0 : 1])))
    const seen = lasts.map((last) => last?.seq ?? 0).sort((a, b) => a - b)
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n))
    const all = await store.audit.list({ limit: 100 })
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  })

  test('a record out of order, or without the lock, is rejected', async ({ store }) => {
    const wrong: ((tx: StoreTransaction) => Promise<void>)[] = [
      (tx) => tx.appendAudit(auditRecord(1)),
      async (tx) => {
        await tx.lockAudit()
        await tx.appendAudit(auditRecord(2))
      },
      async (tx) => {
        await tx.lockAudit()
        await tx.appendAudit(auditRecord(1))
        await tx.appendAudit(auditRecord(1))
      },
    ]
    for (const work of wrong) await expect(store.transaction(work)).rejects.toThrow(RangeError)
    expect(await store.audit.list({ limit: 10 })).toEqual([])
  })
}
