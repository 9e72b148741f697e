/** Reads of the console over all shards. Source: docs/decisions/shards.md. @module */
import type { ConsoleReads, MinuteCount, MinuteCounts } from '@payment-integration/core/ports'
import { checkIds } from '../console/payment-reads.js'
import { shardedLists } from './console-lists.js'
import { byNumber, byText, firstOf, ofEach } from './merge.js'
import { allOf, byShard, type ShardMap } from './shard-map.js'

/** @param at - The reads of a shard. */
export function shardedConsole(map: ShardMap, at: (shard: number) => ConsoleReads): Omit<ConsoleReads, 'audit'> {
  const parts = allOf(map, at)
  const ofIntegration = (address: string) => at(map.ofIntegration(address))
  const ofIds = async <Row>(ids: readonly string[], read: (part: ConsoleReads, own: string[]) => Promise<Row[]>) =>
    (await ofEach(byShard(checkIds(ids), map.ofId), ([shard, own]) => read(at(shard), own))).flat()
  return {
    ...shardedLists(map, at),
    async prepare() {
      for (const part of parts) await part.prepare()
    },
    async search(search, limit) {
      if (search.kind === 'wallet' && search.integrationAddress !== undefined)
        return ofIntegration(search.integrationAddress).search(search, limit)
      const found = await ofEach(parts, (part) => part.search(search, limit))
      return firstOf(found, (a, b) => b.blockTimestamp - a.blockTimestamp || byNumber(b.id, a.id), limit)
    },
    paymentsById: (ids) => ofIds(ids, (part, own) => part.paymentsById(own)),
    async updates({ paymentIds, limit }) {
      return (await ofIds(paymentIds, (part, own) => part.updates({ paymentIds: own, limit }))).slice(0, limit)
    },
    deliveriesOf: (paymentId) => at(map.ofId(paymentId)).deliveriesOf(paymentId),
    async deliveriesById(ids) {
      const found = await ofIds(ids, (part, own) => part.deliveriesById(own))
      return found.sort((a, b) => byNumber(a.deliveryId, b.deliveryId))
    },
    async attempts(query) {
      const found = await ofEach(parts, (part) => part.attempts(query))
      return firstOf(found, (a, b) => b.startedAt - a.startedAt, query.limit)
    },
    async attemptsPerMinute(query) {
      return sum(await ofEach(parts, (part) => part.attemptsPerMinute(query)), query.limit)
    },
    async paymentsPerMinute(query) {
      return sum(await ofEach(parts, (part) => part.paymentsPerMinute(query)), query.limit)
    },
    lastFailure: (address) => ofIntegration(address).lastFailure(address),
    latencies: (address) => ofIntegration(address).latencies(address),
    async integrations(query) {
      const found = await ofEach(parts, (part) => part.integrations(query))
      return firstOf(found, (a, b) => byText(a.address, b.address), query.limit)
    },
    async newest(limit) {
      const found = await ofEach(parts, (part) => part.newest(limit))
      return {
        payments: found.flatMap(({ payments }) => payments),
        deliveries: found.flatMap(({ deliveries }) => deliveries),
        updates: found.flatMap(({ updates }) => updates),
      }
    },
  }
}

/** Adds the counts of the newest minutes, until `limit` rows are counted: older minutes may lack rows of a shard. */
function sum<Kind extends string | null>(parts: readonly MinuteCounts<Kind>[], limit: number): MinuteCounts<Kind> {
  const counts = new Map<string, MinuteCount<Kind>>()
  for (const each of parts.flatMap((part) => part.counts)) {
    const key = `${each.minute} ${each.kind}`
    counts.set(key, { ...each, count: each.count + (counts.get(key)?.count ?? 0) })
  }
  const newestFirst = [...counts.values()].sort((a, b) => b.minute - a.minute)
  let rows = 0
  let oldest = Number.NEGATIVE_INFINITY
  for (const { minute, count } of newestFirst) {
    if (rows >= limit && minute < oldest) break
    rows += count
    oldest = minute
  }
  const kept = newestFirst.filter(({ minute }) => minute >= oldest)
  return { counts: kept.reverse(), isCut: rows >= limit || parts.some(({ isCut }) => isCut) }
}
