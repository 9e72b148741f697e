/** Replays deliveries of all shards. See docs/decisions/replays.md, docs/decisions/shards.md. @module */
import type { Replayed, ReplayRequest, StoreTransaction } from '@payment-integration/core/ports'
import { checkInteger } from '../internal/checks.js'
import type { ShardMap } from './shard-map.js'

/**
 * Replays shard after shard: ids of two shards say nothing about each other, so `afterId` means that all shards before
 * its own are done.
 */
export async function replayInShards(
  map: ShardMap,
  at: (shard: number) => StoreTransaction,
  { afterId, ...request }: ReplayRequest,
): Promise<Replayed> {
  const { deliveryId, integrationAddress } = request
  const limit = checkInteger(request.limit, 'limit', 1)
  if (deliveryId !== undefined) return at(map.ofId(deliveryId)).replayDeliveries({ ...request, afterId })
  if (integrationAddress !== undefined)
    return at(map.ofIntegration(integrationAddress)).replayDeliveries({ ...request, afterId })
  const total = { replayed: 0, underWay: 0, lastId: null as string | null }
  const first = afterId === undefined ? 0 : map.ofId(afterId)
  for (let shard = first; shard < map.count; shard += 1) {
    const left = limit - total.replayed - total.underWay
    if (left <= 0) break
    const after = shard === first ? afterId : undefined
    const part = await at(shard).replayDeliveries({ ...request, afterId: after, limit: left })
    total.replayed += part.replayed
    total.underWay += part.underWay
    total.lastId = part.lastId ?? total.lastId
  }
  return total
}
