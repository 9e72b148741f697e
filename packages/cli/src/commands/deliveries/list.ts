/** `payment-integration deliveries list`. @module */
import type { DeliveryCommands } from '@payment-integration/core'
import type { DeliveryFilter, DeliveryView } from '@payment-integration/core/ports'
import { InterruptedError } from '../../errors.js'
import { grouped } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import type { Reporter } from '../../output.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { type FilterOptions, filterOf } from './filter.js'
import { deliveryHeads, deliveryLine } from './text.js'

/** Options of {@link listDeliveries}. */
export interface ListDeliveriesOptions extends OperateOptions, FilterOptions {
  /** Limit of printed deliveries. @default 50 */
  readonly limit?: number | undefined
  /** Print all. @default false */
  readonly all?: boolean | undefined
  /** Start after the delivery with this id. */
  readonly after?: string | undefined
  /** Print only the number of matching deliveries. @default false */
  readonly count?: boolean | undefined
}

/** Default of {@link ListDeliveriesOptions.limit}. */
export const defaultLimit = 50
/** Deliveries of one query: neither side holds a long list in memory. */
const pageSize = 500

/**
 * Prints matching deliveries, oldest first. With `json`, prints one object each.
 * @throws UsageError `ERR_USAGE`; InterruptedError.
 */
export function listDeliveries(options: ListDeliveriesOptions, io: Io): Promise<ExitCode> {
  const { all = false, limit = defaultLimit, after, count = false } = options
  const filter = filterOf(options)
  return withService(options, io, async ({ deliveries }, report) => {
    if (count) return report({ event: 'count', count: await deliveries.count(filter) }, (event) => [`${event.count}`])
    let shown = 0
    let last = after
    for await (const page of pages(deliveries, filter, last, all ? Number.POSITIVE_INFINITY : limit)) {
      if (shown === 0 && !options.json) io.out(deliveryHeads)
      for (const delivery of page) report({ event: 'delivery', delivery }, (event) => [deliveryLine(event.delivery)])
      shown += page.length
      last = page.at(-1)?.deliveryId
      if (io.signal.aborted) throw new InterruptedError('Interrupted; more deliveries may match.')
    }
    if (shown === 0 && !options.json) io.out('No delivery matches.')
    if (last !== undefined && !all) await reportRest(deliveries, filter, { shown, afterId: last, report })
  })
}

async function* pages(
  deliveries: DeliveryCommands,
  filter: DeliveryFilter,
  after: string | undefined,
  limit: number,
): AsyncGenerator<readonly DeliveryView[]> {
  let afterId = after
  let remaining = limit
  while (remaining > 0) {
    const size = Math.min(pageSize, remaining)
    const page = await deliveries.list({ ...filter, afterId, limit: size })
    if (page.length > 0) yield page
    if (page.length < size) return
    afterId = page.at(-1)?.deliveryId
    remaining -= page.length
  }
}

interface Shown {
  readonly shown: number
  readonly afterId: string
  readonly report: Reporter
}

/** Reports how many more deliveries match, if any. */
async function reportRest(deliveries: DeliveryCommands, filter: DeliveryFilter, { report, ...shown }: Shown) {
  const [next] = await deliveries.list({ ...filter, afterId: shown.afterId, limit: 1 })
  if (next === undefined) return
  const fit = await deliveries.count(filter)
  report({ event: 'more', ...shown, fit }, (event) => [
    `${grouped(event.shown)} shown, ${grouped(event.fit)} match in all; continue with --after ${event.afterId}, or print all with --all.`,
  ])
}
