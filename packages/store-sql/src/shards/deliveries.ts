/** Claims, settles and lists the deliveries of all shards. Source: docs/decisions/shards.md. @module */
import type { DeliveryFilter, DeliveryStore, Ids } from '@payment-integration/core/ports'
import { createClaim } from '../deliveries/claim.js'
import { createSettle } from '../deliveries/settle.js'
import type { Engine, ShardEngine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { byNumber, byText, firstOf, ofEach } from './merge.js'
import { lookUp, type ShardMap } from './shard-map.js'

/**
 * Builds the delivery store. One claim looks for due deliveries in each shard, and gives the slots to the best of all.
 * @param parts - Of each shard.
 */
export function shardedDeliveries(
  map: ShardMap,
  outbox: Engine,
  shards: readonly ShardEngine[],
  parts: readonly DeliveryStore[],
  ids: Ids,
): DeliveryStore {
  const at = lookUp(parts)
  /** The shards that a filter may match in. */
  const partsOf = ({ integrationAddress }: DeliveryFilter) =>
    integrationAddress === undefined ? parts : [at(map.ofIntegration(integrationAddress))]
  const least = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : Math.min(...known)
  }
  const most = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  return {
    claim: createClaim(outbox, shards, ids),
    settle: createSettle(outbox, shards),
    msUntilDue: async () => least(await ofEach(parts, (part) => part.msUntilDue())),
    whenDue: (listener) => outbox.whenDue(listener),
    async backlog(options) {
      const found = await ofEach(parts, (part) => part.backlog(options))
      return {
        pending: Math.min(
          options.atMost,
          found.reduce((sum, { pending }) => sum + pending, 0),
        ),
        oldestDueMs: most(found.map(({ oldestDueMs }) => oldestDueMs)),
        oldestBlockedMs: most(found.map(({ oldestBlockedMs }) => oldestBlockedMs)),
      }
    },
    async list(query) {
      const found = await ofEach(partsOf(query), (part) => part.list(query))
      return firstOf(found, (a, b) => byNumber(a.deliveryId, b.deliveryId), query.limit)
    },
    find: (deliveryId) => at(map.ofId(deliveryId)).find(deliveryId),
    async newestId(filter) {
      const found = await ofEach(partsOf(filter), (part) => part.newestId(filter))
      return (
        found
          .filter((id) => id !== null)
          .sort(byNumber)
          .at(-1) ?? null
      )
    },
    async count(filter, { atMost } = {}) {
      const limit = atMost === undefined ? Number.POSITIVE_INFINITY : checkInteger(atMost, 'atMost', 1)
      let count = 0
      for (const part of partsOf(filter)) {
        if (count >= limit) break
        count += await part.count(filter, atMost === undefined ? {} : { atMost: limit - count })
      }
      return count
    },
    async completeUpTo() {
      const complete = await ofEach(parts, (part) => part.completeUpTo())
      const known = complete.filter((each) => each !== null)
      if (known.length < complete.length) return null
      return {
        mark: known.map(({ mark }) => mark).join(),
        idOf: (address) => known[map.ofIntegration(address)]?.idOf(address) ?? '0',
      }
    },
    stream: (query) => at(map.ofIntegration(query.integrationAddress)).stream(query),
    async endpoints({ limit } = {}) {
      const found = await ofEach(parts, (part) => part.endpoints(limit === undefined ? {} : { limit }))
      return firstOf(found, (a, b) => byText(a.integrationAddress, b.integrationAddress), limit)
    },
    endpoint: (integrationAddress) => at(map.ofIntegration(integrationAddress)).endpoint(integrationAddress),
  }
}
