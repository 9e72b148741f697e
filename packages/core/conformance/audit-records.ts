/** Records of the audit log for tests, in stores with any number of audit chains. @module */
import type { Store } from '../src/ports/store.js'
import type { AuditChainKey, AuditRecord } from '../src/ports/store-audit.js'
import type { StoreTransaction } from '../src/ports/store-transaction.js'
import { epoch, otherShop, shop } from './fixtures.js'

/** A record with a number. */
export const record = (seq: number, changes: Partial<AuditRecord> = {}): AuditRecord => ({
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

/** Adds a record in a transaction. @returns The newest one before it. */
export async function appendIn(
  tx: StoreTransaction,
  key: AuditChainKey,
  changes: Partial<AuditRecord> = {},
): Promise<AuditRecord | null> {
  const { newest, next } = await tx.lockAudit(key)
  await tx.appendAudit(record(next, changes))
  return newest
}

/** The same in a transaction of its own. */
export const append = (store: Store, key: AuditChainKey, changes: Partial<AuditRecord> = {}) =>
  store.transaction((tx) => appendIn(tx, key, changes))

/** The chain of an integration, or the service's. */
export async function chainOf({ transaction, audit }: Store, key: AuditChainKey): Promise<number> {
  const { next } = await transaction((tx) => tx.lockAudit(key))
  return next % audit.chains
}

/** The service or an integration, of each other chain. */
export async function keysOfOthers(store: Store, chain: number): Promise<AuditChainKey[]> {
  const others = new Map<number, AuditChainKey>()
  for (const key of [null, shop, otherShop]) others.set(await chainOf(store, key), key)
  others.delete(chain)
  return [...others.values()]
}

/** The first numbers of a chain. */
export const numbersOf = ({ audit: { chains } }: Store, chain: number, count: number) =>
  Array.from({ length: count }, (_, n) => (chain === 0 ? chains : chain) + n * chains)

/** Compares numbers. */
export const bySeq = (a: AuditRecord, b: AuditRecord) => a.seq - b.seq
/** The numbers of records. */
export const seqsOf = (records: readonly AuditRecord[]) => records.map(({ seq }) => seq)
