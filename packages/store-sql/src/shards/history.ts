/** History of all shards: their segments begin and end together. Source: docs/decisions/shards.md. @module */
import type { HistoryPart, HistoryRow, HistoryStore, SegmentedKind } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import { ofEach } from './merge.js'
import { byShard, type ShardMap } from './shard-map.js'

/**
 * @param parts - Of each shard.
 * @param exclusively - Runs work while no other process begins a segment.
 */
export function shardedHistory(
  map: ShardMap,
  parts: readonly HistoryStore[],
  exclusively: Engine['exclusively'],
): HistoryStore {
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  /** The segments that all shards have: an interruption may leave one that some lack. */
  async function segments() {
    const all = await ofEach(parts, (part) => part.segments())
    const common = Math.min(...all.map((own) => own.length))
    // Until a segment has begun in the last shard, rows of it belong to the one before.
    const begunAt = (place: number) => Math.max(...all.map((own) => own[place]?.begunAt ?? 0))
    return Array.from({ length: common }, (_, number) => ({
      number,
      begunAt: begunAt(number),
      endedAt: number === common - 1 ? null : begunAt(number + 1),
    }))
  }
  return {
    segments,
    async beginSegment() {
      await exclusively(async () => {
        const next = (await segments()).length
        for (const part of parts) if ((await part.segments()).length === next) await part.beginSegment()
      })
    },
    async closeSegments(upTo) {
      if (upTo >= (await segments()).length - 1)
        throw new RangeError(`Segment ${upTo} is the newest: new rows belong to it.`)
      for (const part of parts) await part.closeSegments(upTo)
    },
    async pending(upTo) {
      const found = (await ofEach(parts, (part) => part.pending(upTo))).flat()
      return found.sort((a, b) => a.segment - b.segment || (a.integrationAddress < b.integrationAddress ? -1 : 1))
    },
    giveUpPending: async (upTo) => sum(await ofEach(parts, (part) => part.giveUpPending(upTo))),
    count: async (kind, segment) => sum(await ofEach(parts, (part) => part.count(kind, segment))),
    async part(kind, segment): Promise<HistoryPart> {
      const own = await ofEach(parts, (part) => part.part(kind, segment))
      return {
        async *rows() {
          for (const part of own) yield* part.rows()
        },
        async remove() {
          for (const part of own) await part.remove()
        },
      }
    },
    async restore(kind, segment, rows) {
      const groups = new Map(byShard(rows, (row) => map.ofId(numberOf(kind, row))))
      // Each shard checks the segment, also without rows.
      for (const [shard, part] of parts.entries()) await part.restore(kind, segment, groups.get(shard) ?? [])
    },
  }
}

/** The number that the database assigned to a row, or to the delivery of an attempt. */
function numberOf(kind: SegmentedKind, row: HistoryRow): string {
  const name = kind === 'updates' ? 'seq' : 'deliveryId'
  const value = row[name]
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new TypeError(`A row of history has no valid ${name}; is it of another release?`)
}
