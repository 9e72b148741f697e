import { auditChainOf, auditPlace, auditSeq } from '../../src/audit/numbers.js'
import type { AuditChainKey, AuditRecord, AuditStore } from '../../src/ports/store-audit.js'
import type { ConsoleReads } from '../../src/ports/store-console.js'
import type { StoreTransaction } from '../../src/ports/store-transaction.js'
import type { MemoryState } from './memory-state.js'

const bySeq = (a: AuditRecord, b: AuditRecord) => a.seq - b.seq

/** Records of a chain, or of all, in the order of their numbers. */
function recordsOf({ audit }: MemoryState, chains: number, chain: number | undefined): AuditRecord[] {
  if (chain !== undefined && !(Number.isInteger(chain) && chain >= 0 && chain < chains))
    throw new RangeError(`there is no audit chain ${chain}`)
  return audit.filter(({ seq }) => chain === undefined || auditChainOf(seq, chains) === chain).sort(bySeq)
}

/** The audit log on rows of somebody else. @param rows - Asked for at every call. */
export function auditReads(rows: () => MemoryState, chains: number): AuditStore {
  return {
    chains,
    newest: async (chain) => recordsOf(rows(), chains, chain).at(-1) ?? null,
    list: async ({ chain, afterSeq = 0, limit }) =>
      recordsOf(rows(), chains, chain)
        .filter(({ seq }) => seq > afterSeq)
        .slice(0, limit),
  }
}

/** Records of all chains by their time, newest first. */
export function auditPages(rows: () => MemoryState): ConsoleReads['audit'] {
  return async ({ before, limit }) =>
    rows()
      .audit.filter(({ at, seq }) => before === undefined || at < before.at || (at === before.at && seq < before.seq))
      .sort((a, b) => b.at - a.at || b.seq - a.seq)
      .slice(0, limit)
}

type AuditTransaction = Pick<StoreTransaction, 'lockAudit' | 'appendAudit' | 'removeAudit' | 'restoreAudit'>

/** The audit log in a transaction. */
export function auditIn(draft: MemoryState, chains: number): AuditTransaction {
  const locked = new Set<number>()
  const chainOf = (seq: number) => auditChainOf(seq, chains)
  /** The end of a chain. */
  const endOf = (chain: number) => {
    const newest = recordsOf(draft, chains, chain).at(-1) ?? null
    const place = newest === null ? 0 : auditPlace(chain, newest.seq, chains)
    return { newest, next: auditSeq(chain, place + 1, chains), step: chains }
  }
  const numberOf = (key: AuditChainKey): number => {
    if (key === null) return 0
    if (typeof key === 'number') return key
    const sum = [...key].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
    return chains === 1 ? 0 : 1 + (sum % (chains - 1))
  }
  return {
    async lockAudit(key) {
      const chain = numberOf(key)
      const end = endOf(chain)
      locked.add(chain)
      return end
    },
    async appendAudit(record) {
      if (!locked.has(chainOf(record.seq))) throw new RangeError('call lockAudit first')
      if (record.seq !== endOf(chainOf(record.seq)).next)
        throw new RangeError(`audit record ${record.seq} leaves a gap`)
      draft.audit.push(record)
    },
    async removeAudit(upToSeq) {
      draft.audit = draft.audit.filter(({ seq }) => chainOf(seq) !== chainOf(upToSeq) || seq > upToSeq)
    },
    async restoreAudit(records) {
      const known = new Set(draft.audit.map(({ seq }) => seq))
      draft.audit = [...records.filter(({ seq }) => !known.has(seq)), ...draft.audit].sort(bySeq)
    },
  }
}
