/** The operator's commands for deliveries: list and replay. See docs/decisions/replays.md. @module */
import type { Audited } from '../audit/audited.js'
import type { CheckTotals, DeliveryCommands, ReplayTotals } from '../delivery-types.js'
import { DeliveryError } from '../errors.js'
import { assertWhole } from '../internal/assert-whole.js'
import { parseAddress, parseTxHash } from '../payments/parameters.js'
import type { DeliveryFilter, DeliveryStore } from '../ports/store-deliveries.js'

/** The dependencies of the commands. */
export interface DeliveryDeps {
  readonly deliveries: Pick<DeliveryStore, 'list' | 'count' | 'newestId' | 'find' | 'findMissing' | 'endpoints'>
  readonly audited: Audited
  /** Called after a commit that made deliveries due. */
  readonly onDue: () => void
}

/** Most deliveries in one transaction of a replay. */
export const replayPart = 1_000

/** From this age on, in milliseconds, an open database snapshot is reported: claims have slowed down by then. */
export const oldSnapshotMs = 300_000

/** Most versions in one statement of a check, and in one transaction of its repair. */
export const checkPart = 5_000

/** Builds the commands. */
export function createDeliveryCommands({ deliveries, audited, onDue }: DeliveryDeps): DeliveryCommands {
  async function find(deliveryId: string) {
    const view = await deliveries.find(deliveryId)
    if (view === null) throw new DeliveryError('ERR_DELIVERY_NOT_FOUND', deliveryId)
    return view
  }

  /** Why no delivery was replayed. */
  async function whyNot(deliveryId: string, { integrationAddress }: ParsedFilter) {
    const view = await deliveries.find(deliveryId)
    const isOwn = view !== null && [undefined, view.integrationAddress].includes(integrationAddress)
    return isOwn ? 'ERR_DELIVERY_ENDED' : 'ERR_DELIVERY_NOT_FOUND'
  }

  /** Makes the missing deliveries due whose ids lie between two others. */
  async function requeue(afterId: string, beforeId: string | undefined): Promise<number> {
    const upToId = beforeId === undefined ? undefined : String(Number(beforeId) - 1)
    const { replayed } = await audited(async (tx, note) => {
      const filter = { status: 'missing', afterId, upToId } as const
      const result = await tx.replayDeliveries({ ...filter, limit: checkPart })
      if (result.replayed > 0)
        note({
          ...{ action: 'deliveries.replayed', subject: 'all' },
          details: { status: 'missing', replayed: result.replayed, from: Number(afterId) + 1, through: result.lastId },
        })
      return result
    })
    if (replayed > 0) onDue()
    return replayed
  }

  return {
    find,
    async list(query) {
      assertWhole('limit', query.limit, 1)
      const { afterId, limit } = query
      return deliveries.list({ ...parseFilter(query), afterId, limit })
    },
    count: async (filter, options) => deliveries.count(parseFilter(filter), options),
    async replay(deliveryId, { integrationAddress } = {}) {
      const scope = parseFilter({ integrationAddress })
      const { replayed, underWay } = await audited(async (tx, note) => {
        const result = await tx.replayDeliveries({ ...scope, deliveryId, limit: 1 })
        if (result.replayed > 0)
          note({ action: 'deliveries.replayed', subject: deliveryId, details: { replayed: result.replayed } })
        return result
      })
      if (underWay > 0) throw new DeliveryError('ERR_DELIVERY_UNDER_WAY', deliveryId)
      if (replayed === 0) throw new DeliveryError(await whyNot(deliveryId, scope), deliveryId)
      onDue()
      return find(deliveryId)
    },
    async replayAll(filterInput, { onProgress, signal } = {}) {
      if (filterInput.status === undefined)
        throw new RangeError('replayAll needs a status; pass "delivered" to send delivered ones once more.')
      const filter = parseFilter(filterInput)
      const totals = { replayed: 0, underWay: 0 }
      // Deliveries created or replayed from here on are not replayed.
      const upToId = await deliveries.newestId(filter)
      if (upToId === null) return totals
      let afterId: string | undefined
      while (!signal?.aborted) {
        const from = afterId
        const part = await audited(async (tx, note) => {
          const result = await tx.replayDeliveries({ ...filter, afterId: from, upToId, limit: replayPart })
          const { replayed, underWay, lastId: through } = result
          if (through !== null)
            note({ action: 'deliveries.replayed', subject: 'all', details: { ...filter, replayed, underWay, through } })
          return result
        })
        if (part.lastId === null) break
        afterId = part.lastId
        totals.replayed += part.replayed
        totals.underWay += part.underWay
        if (part.replayed > 0) onDue()
        onProgress?.({ ...totals })
        if (part.replayed + part.underWay < replayPart) break
      }
      return totals satisfies ReplayTotals
    },
    async check({ repair = false, onProgress, signal } = {}) {
      const totals = { examined: 0, missing: 0, requeued: 0 }
      let beforeId: string | undefined
      while (!signal?.aborted) {
        const { examined, missing, lowestId } = await deliveries.findMissing({ beforeId, limit: checkPart })
        totals.examined += examined
        totals.missing += missing
        if (repair && missing > 0 && lowestId !== null)
          totals.requeued += await requeue(String(Number(lowestId) - 1), beforeId)
        onProgress?.({ ...totals })
        if (examined < checkPart || lowestId === null) break
        beforeId = lowestId
      }
      return totals satisfies CheckTotals
    },
    endpoints: () => deliveries.endpoints(),
  }
}

type ParsedFilter = { [Name in keyof DeliveryFilter]: Exclude<DeliveryFilter[Name], undefined> }

/** The given fields, in the store's format. */
function parseFilter({ integrationAddress, chainId, txHash, status, since, until }: DeliveryFilter): ParsedFilter {
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
