/** Tests: which audit chain a record is in. @module */
import { expect } from 'vitest'
import type { AuditRecord } from '../src/ports/store-audit.js'
import { append, bySeq, record, seqsOf } from './audit-records.js'
import { otherShop, shop } from './fixtures.js'
import type { StoreTest } from './subject.js'

/** Registers the tests. */
export function auditChainTests(test: StoreTest): void {
  test('a record is in the chain of its integration, the others in that of the service, which no integration shares', async ({
    store,
  }) => {
    const { chains } = store.audit
    const keys = [null, shop, otherShop]
    for (const key of keys) {
      const { next, step } = await store.transaction((tx) => tx.lockAudit(key))
      const chain = next % chains
      expect(step).toBe(chains)
      expect(await store.transaction((tx) => tx.lockAudit(chain))).toMatchObject({ next, step })
      if (chains > 1) expect(chain === 0).toBe(key === null)
      await append(store, key)
      expect(await store.audit.newest(chain)).toEqual(record(next))
      expect(seqsOf(await store.audit.list({ chain, limit: 9 }))).toContain(next)
    }
    const all = await store.audit.list({ limit: 9 })
    expect(all).toHaveLength(keys.length)
    for (let chain = 0; chain < chains; chain += 1)
      expect(await store.audit.list({ chain, limit: 9 })).toEqual(all.filter(({ seq }) => seq % chains === chain))
  })

  test('records of all chains are listed in the order of their numbers, page by page', async ({ store }) => {
    for (let n = 0; n < 3; n += 1) for (const key of [shop, null, otherShop]) await append(store, key)
    const all = await store.audit.list({ limit: 99 })
    expect(all).toHaveLength(9)
    expect(new Set(seqsOf(all)).size).toBe(9)
    expect(all).toEqual([...all].sort(bySeq))
    const pages: AuditRecord[] = []
    for (let n = 0; n < 5; n += 1) pages.push(...(await store.audit.list({ afterSeq: pages.at(-1)?.seq, limit: 2 })))
    expect(pages).toEqual(all)
  })

  test('a chain that the log does not have is refused', async ({ store }) => {
    for (const chain of [-1, 0.5, store.audit.chains]) {
      await expect(store.audit.list({ chain, limit: 1 })).rejects.toThrow(RangeError)
      await expect(store.audit.newest(chain)).rejects.toThrow(RangeError)
      await expect(store.transaction((tx) => tx.lockAudit(chain))).rejects.toThrow(RangeError)
    }
  })
}
