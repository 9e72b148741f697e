/** Listing and replaying deliveries. Source: docs/decisions/retries.md; docs/decisions/replays.md. @module */
import type { Audited } from '../audit/audited.js'
import { DeliveryError } from '../errors.js'
import { assertWhole } from '../internal/assert-whole.js'
import { parseAddress, parseTxHash } from '../payments/parameters.js'
import type { DeliveryFilter, DeliveryStore } from '../ports/store-deliveries.js'
import type { DeliveryCommands, ReplayTotals } from '../service-types.js'

/** What the commands need. */
export interface DeliveryDeps {
  readonly deliveries: Pick<DeliveryStore, 'list' | 'count' | 'newestId' | 'find' | 'endpoints'>
  readonly audited: Audited
  /** Called after a commit that made deliveries due. */
  readonly onDue: () => void
}

/** Deliveries in one transaction of a replay. */
export const replayPart = 1_000

/** Builds the commands. */
export function createDeliveryCommands({ deliveries, audited, onDue }: DeliveryDeps): DeliveryCommands {
  async function find(deliveryId: string) {
    const view = await deliveries.find(deliveryId)
    if (view === null) throw new DeliveryError('ERR_DELIVERY_NOT_FOUND', deliveryId)
    return view
  }

  return {
    find,
    async list(query) {
      assertWhole('limit', query.limit, 1)
      const { afterId, limit } = query
      return deliveries.list({ ...parseFilter(query), afterId, limit })
    },
    count: async (filter) => deliveries.count(parseFilter(filter)),
    async replay(deliveryId) {
      await audited(async (tx, note) => {
        const { replayed, underWay } = await tx.replayDeliveries({ deliveryId, limit: 1 })
        if (underWay > 0) throw new DeliveryError('ERR_DELIVERY_UNDER_WAY', deliveryId)
        if (replayed === 0) throw new DeliveryError('ERR_DELIVERY_NOT_FOUND', deliveryId)
        note({ action: 'deliveries.replayed', subject: deliveryId, details: { replayed } })
      })
      onDue()
      return find(deliveryId)
    },
    async replayAll(given, { onProgress, signal } = {}) {
      if (given.status === undefined)
        throw new RangeError('replayAll needs a status; say "delivered" if what was delivered is to be sent again.')
      const filter = parseFilter(given)
      const done = { replayed: 0, underWay: 0 }
      // What is made or fails during the replay lies beyond it, or behind.
      const upToId = await deliveries.newestId(filter)
      if (upToId === null) return done
      let afterId: string | undefined
      while (!signal?.aborted) {
        const from = afterId
        const part = await audited(async (tx, note) => {
          const result = await tx.replayDeliveries({ ...filter, afterId: from, upToId, limit: replayPart })
          const { replayed, underWay } = result
          const { lastId: through } = result
          if (through !== null)
            note({ action: 'deliveries.replayed', subject: 'all', details: { ...filter, replayed, underWay, through } })
          return result
        })
        if (part.lastId === null) break
        afterId = part.lastId
        done.replayed += part.replayed
        done.underWay += part.underWay
        if (part.replayed > 0) onDue()
        onProgress?.({ ...done })
        if (part.replayed + part.underWay < replayPart) break
      }
      return done satisfies ReplayTotals
    },
    endpoints: () => deliveries.endpoints(),
  }
}

type GivenFilter = { [Name in keyof DeliveryFilter]: Exclude<DeliveryFilter[Name], undefined> }

/** Only what is given, in the form of the store. */
function parseFilter({ integrationAddress, chainId, txHash, status, since, until }: DeliveryFilter): GivenFilter {
  for (const [name, at] of Object.entries({ since, until }))
    if (at !== undefined && !Number.isFinite(at))
      throw new RangeError(`${name} is ${at}; pass unix time in milliseconds.`)
  return {
    ...(integrationAddress === undefined ? {} : { integrationAddress: parseAddress(integrationAddress) }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(txHash === undefined ? {} : { txHash: parseTxHash(txHash) }),
    ...(status === undefined ? {} : { status }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}
