/** Lists of the console over all shards, newest first. Source: docs/decisions/shards.md. @module */
import type { ConsolePage, ConsolePosition, ConsoleReads, DeliveryView } from '@payment-integration/core/ports'
import { ofEach } from './merge.js'
import { allOf, type ShardMap } from './shard-map.js'

type Lists = Pick<ConsoleReads, 'payments' | 'deliveries'>

/** @param at - The lists of a shard. */
export function shardedLists(map: ShardMap, at: (shard: number) => Lists): Lists {
  const parts = allOf(map, at)
  return {
    async payments(query) {
      if (query.integrationAddress !== undefined) return at(map.ofIntegration(query.integrationAddress)).payments(query)
      return joinPayments(await ofEach(parts, (part) => part.payments(query)), query.limit)
    },
    async deliveries({ beforeId, ...query }) {
      if (query.integrationAddress !== undefined)
        return at(map.ofIntegration(query.integrationAddress)).deliveries({ ...query, beforeId })
      const pages = await ofEach(parsePlaces(beforeId, map.count), async (place, shard) => {
        if (place === ended) return { rows: [], next: null, isCut: false, place }
        return { ...(await at(shard).deliveries({ ...query, ...(place === '' ? {} : { beforeId: place }) })), place }
      })
      return joinDeliveries(pages, query.limit)
    },
  }
}

type PaymentPage = Awaited<ReturnType<Lists['payments']>>

/** Payments have one order in all shards: the rows after the place where a page was cut are left to the next page. */
function joinPayments(pages: readonly PaymentPage[], limit: number): PaymentPage {
  const rows = pages.flatMap((page) => page.rows).sort(compare)
  const [cutAt] = pages.flatMap(({ isCut, next }) => (isCut && next !== null ? [next] : [])).sort(compare)
  const known = cutAt === undefined ? rows : rows.filter((row) => compare(row, cutAt) <= 0)
  const taken = known.slice(0, limit)
  const last = taken.at(-1)
  if (taken.length === limit && last !== undefined) {
    const hasMore = rows.length > limit || pages.some(({ next }) => next !== null)
    return { rows: taken, next: hasMore ? { blockTimestamp: last.blockTimestamp, id: last.id } : null, isCut: false }
  }
  return { rows: taken, next: cutAt ?? null, isCut: cutAt !== undefined }
}

/** Newest first. */
const compare = (a: ConsolePosition, b: ConsolePosition) =>
  b.blockTimestamp - a.blockTimestamp || Number(b.id) - Number(a.id)

type DeliveryPage = ConsolePage<DeliveryView, string>

/**
 * Deliveries are in the order of the ids of their shard, so that a position has a place in each. Of the next ones of
 * all shards the newest is taken. A shard that has no next one here, but may have more, ends the page.
 */
function joinDeliveries(pages: readonly (DeliveryPage & { readonly place: string })[], limit: number): DeliveryPage {
  const rest = pages.map((page) => ({ ...page, taken: 0 }))
  const rows: DeliveryView[] = []
  const isStuck = ({ taken, rows: own, next }: (typeof rest)[number]) => taken === own.length && next !== null
  const newest = (best: (typeof rest)[number] | undefined, page: (typeof rest)[number]) =>
    timeOf(page.rows[page.taken]) > timeOf(best?.rows[best.taken]) ? page : best
  while (rows.length < limit && !rest.some(isStuck)) {
    const page = rest.reduce(newest, undefined as (typeof rest)[number] | undefined)
    const row = page?.rows[page.taken]
    if (page === undefined || row === undefined) break
    rows.push(row)
    page.taken += 1
  }
  const places = rest.map(({ place, rows: own, taken, next }) =>
    taken === own.length ? (next ?? ended) : (own[taken - 1]?.deliveryId ?? place),
  )
  return {
    rows,
    next: places.every((place) => place === ended) ? null : places.join('.'),
    isCut: rows.length < limit && rest.some(isStuck),
  }
}

const timeOf = (delivery: DeliveryView | undefined) => (delivery === undefined ? -1 : (delivery.createdAt ?? 0))

/** The place of a shard that has no more. */
const ended = '0'

/** The place in each shard: '' is its beginning. @throws TypeError For text that is no position. */
function parsePlaces(text: string | undefined, count: number): string[] {
  const places = text === undefined ? Array.from({ length: count }, () => '') : text.split('.')
  if (places.length === count && places.every((place) => /^\d{0,15}$/.test(place))) return places
  throw new TypeError('beforeId is no position in the deliveries of this database.')
}
