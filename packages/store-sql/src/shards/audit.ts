/**
 * The audit chains of a database in shards: chain 0 of the service, chain k + 1 of shard k. Source:
 * docs/decisions/audit.md.
 * @module
 */

import type { AuditChainKey, AuditRecord, AuditStore, ConsoleReads } from '@payment-integration/core/ports'
import { auditChainOf, auditPlace, auditSeq } from '@payment-integration/core/ports'
import type { AuditTransaction } from '../audit.js'
import { checkInteger } from '../internal/checks.js'
import { firstOf, ofEach } from './merge.js'
import type { ShardMap } from './shard-map.js'

/** How many chains the log has. */
const chainsOf = ({ count }: ShardMap) => count + 1

/** Looks up what each chain has, by number. A table has the places of its records; the log has their numbers. */
function lookUpChain<Part>(map: ShardMap, main: Part, at: (shard: number) => Part) {
  const chains = chainsOf(map)
  return (chain: number) => ({
    part: checkInteger(chain, 'chain', 0, chains - 1) === 0 ? main : at(chain - 1),
    numbered: (record: AuditRecord): AuditRecord => ({ ...record, seq: auditSeq(chain, record.seq, chains) }),
    placed: (record: AuditRecord): AuditRecord => ({ ...record, seq: auditPlace(chain, record.seq, chains) }),
    placesUpTo: (seq: number) => auditPlace(chain, seq, chains),
  })
}

const allChains = (map: ShardMap) => Array.from({ length: chainsOf(map) }, (_, chain) => chain)

/** @param at - The chain of a shard. */
export function shardedAudit(map: ShardMap, main: AuditStore, at: (shard: number) => AuditStore): AuditStore {
  const ofChain = lookUpChain(map, main, at)
  return {
    chains: chainsOf(map),
    async list({ chain, afterSeq = 0, limit }) {
      checkInteger(afterSeq, 'afterSeq')
      const lists = await ofEach(chain === undefined ? allChains(map) : [chain], async (each) => {
        const { part, numbered, placesUpTo } = ofChain(each)
        return (await part.list({ afterSeq: placesUpTo(afterSeq), limit })).map(numbered)
      })
      return firstOf(lists, (a, b) => a.seq - b.seq, limit)
    },
    async newest(chain) {
      const { part, numbered } = ofChain(chain)
      const newest = await part.newest(0)
      return newest && numbered(newest)
    },
  }
}

type Pages = Pick<ConsoleReads, 'audit'>

/** @param at - The reads of a shard. */
export function shardedAuditPages(map: ShardMap, main: Pages, at: (shard: number) => Pages): ConsoleReads['audit'] {
  const ofChain = lookUpChain(map, main, at)
  return async ({ before, limit }) => {
    const lists = await ofEach(allChains(map), async (chain) => {
      const { part, numbered, placesUpTo } = ofChain(chain)
      // Of the same time, records with a lower number come later.
      const own = before && { at: before.at, seq: placesUpTo(checkInteger(before.seq, 'before.seq', 1) - 1) + 1 }
      return (await part.audit({ before: own, limit })).map(numbered)
    })
    return firstOf(lists, (a, b) => b.at - a.at || b.seq - a.seq, limit)
  }
}

/** @param at - The operations of a shard. */
export function shardedAuditIn(
  map: ShardMap,
  main: AuditTransaction,
  at: (shard: number) => AuditTransaction,
): AuditTransaction {
  const chains = chainsOf(map)
  const ofChain = lookUpChain(map, main, at)
  const ofSeq = (seq: number) => ofChain(auditChainOf(checkInteger(seq, 'seq', 1), chains))
  const chainOf = (key: AuditChainKey) => (typeof key === 'string' ? map.ofIntegration(key) + 1 : (key ?? 0))
  return {
    async lockAudit(key) {
      const { part, numbered } = ofChain(chainOf(key))
      const { newest, next } = await part.lockAudit(0)
      return { newest: newest && numbered(newest), next: auditSeq(chainOf(key), next, chains), step: chains }
    },
    async appendAudit(record) {
      const { part, placed } = ofSeq(record.seq)
      await part.appendAudit(placed(record))
    },
    async removeAudit(upToSeq) {
      const { part, placesUpTo } = ofSeq(upToSeq)
      await part.removeAudit(placesUpTo(upToSeq))
    },
    async restoreAudit(records) {
      const [first] = records
      if (first === undefined) return
      const { part, placed } = ofSeq(first.seq)
      const chain = auditChainOf(first.seq, chains)
      const other = records.find(({ seq }) => auditChainOf(seq, chains) !== chain)
      if (other !== undefined) throw new RangeError(`Record ${other.seq} is not of audit chain ${chain}.`)
      await part.restoreAudit(records.map(placed))
    },
  }
}
