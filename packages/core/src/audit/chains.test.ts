/** The audit log with several chains, as of a database in shards. */
import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { memoryStore } from '../../test/support/memory-store.js'
import type { AuditChainKey, AuditRecord } from '../ports/store-audit.js'
import { parseMasterKey } from '../secrets/master-key.js'
import { createAudited } from './audited.js'
import { createAuditQueries } from './queries.js'

const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')
const chains = 3

/** A log with three records in each chain. */
async function setUp() {
  const store = memoryStore({ auditChains: chains })
  const audited = createAudited({ transaction: store.transaction, keys, clock: manualClock(), actor: 'cli:ada' })
  const record = (subject: string, chain?: AuditChainKey) =>
    audited(async (_tx, note) => note({ action: 'integration.enabled', subject }), chain)
  for (const subject of ['a', 'b', 'c']) for (let chain = 0; chain < chains; chain += 1) await record(subject, chain)
  const queries = createAuditQueries({ audit: store.audit, keys })
  const change = (seq: number, fields: Partial<AuditRecord>) =>
    store.seed((state) => {
      state.audit = state.audit.map((each) => (each.seq === seq ? { ...each, ...fields } : each))
    })
  const remove = (...seqs: readonly number[]) =>
    store.seed((state) => {
      state.audit = state.audit.filter(({ seq }) => !seqs.includes(seq))
    })
  return { store, record, change, remove, ...queries }
}

test('an act that concerns no integration is in the chain of the service, another in that of its integration', async () => {
  const { record, store } = await setUp()
  const shop = `0x${'5'.repeat(40)}`
  const { next } = await store.transaction((tx) => tx.lockAudit(shop))
  await record('of the service')
  await record('of the shop', shop)
  expect(await store.audit.newest(0)).toMatchObject({ seq: 12, subject: 'of the service' })
  expect(next % chains).not.toBe(0)
  expect(await store.audit.newest(next % chains)).toMatchObject({ seq: next, subject: 'of the shop' })
})

test('each chain has a head, and an intact log names them all', async () => {
  const { heads, verify, store } = await setUp()
  const [nine, seven, eight] = [await store.audit.newest(0), await store.audit.newest(1), await store.audit.newest(2)]
  expect((await heads()).map(({ seq }) => seq)).toEqual([9, 7, 8])
  expect((await heads()).map(({ hash }) => hash)).toEqual([nine?.hash, seven?.hash, eight?.hash])
  expect(await verify()).toEqual({ records: 9, heads: await heads(), brokenAt: [] })
})

test('a chain without records has no head, and is intact', async () => {
  const { heads, verify, remove } = await setUp()
  remove(1, 4, 7)
  expect((await heads()).map(({ seq }) => seq)).toEqual([9, 8])
  expect(await verify()).toMatchObject({ records: 6, brokenAt: [] })
})

test('the progress of a check counts the records of all chains', async () => {
  const { verify } = await setUp()
  const progress: number[] = []
  await verify({ onProgress: (records) => progress.push(records) })
  expect(progress).toEqual([3, 6, 9])
})

test('a broken chain is named with its number, and hides no other one', async () => {
  const { verify, change, remove } = await setUp()
  change(4, { subject: 'else' })
  remove(3)
  expect(await verify()).toMatchObject({ records: 4, heads: [{ seq: 1 }, { seq: 8 }], brokenAt: [3, 4] })
})

test('a genuine record in the place of one of another chain shows', async () => {
  const { verify, store, remove, change } = await setUp()
  const five = (await store.audit.list({ chain: 2, limit: 9 })).find(({ seq }) => seq === 5)
  change(4, { ...five, seq: 4 })
  expect((await verify()).brokenAt).toEqual([4])
  remove(4, 7)
  expect((await verify()).brokenAt).toEqual([])
  store.seed((state) => {
    state.audit.push({ ...five, seq: 4 } as AuditRecord)
  })
  expect((await verify()).brokenAt).toEqual([4])
})
