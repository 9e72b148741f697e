/** `payment-integration deliveries list`. @module */
import type { DeliveryCommands, DeliveryFilter, DeliveryView } from '@payment-integration/core'
import { InterruptedError } from '../../errors.js'
import { grouped } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import type { Reporter } from '../../output.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { type FilterOptions, filterOf } from './filter.js'
import { deliveryHeads, deliveryLine } from './text.js'

/** Options of {@link listDeliveries}. */
export interface ListDeliveriesOptions extends OperateOptions, FilterOptions {
  /** Most that are printed; what is left is told. @default 50 */
  readonly limit?: number | undefined
  /** Print every one. @default false */
  readonly all?: boolean | undefined
  /** Begin behind the delivery of this id. */
  readonly after?: string | undefined
  /** Print how many fit, and nothing else. @default false */
  readonly count?: boolean | undefined
}

/** Default of {@link ListDeliveriesOptions.limit}. */
export const defaultLimit = 50
/** Deliveries that are read at a time, so that a long list is held by nobody. */
const pageSize = 500

/** Prints the deliveries that fit, oldest first. With `json`, one object each. @throws UsageError `ERR_USAGE`; InterruptedError. */
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
      if (io.signal.aborted) throw new InterruptedError('Interrupted; what is printed may not be all.')
    }
    if (shown === 0 && !options.json) io.out('No delivery fits.')
    if (last !== undefined && !all) await tellWhatIsLeft(deliveries, filter, { shown, afterId: last, report })
  })
}

async function* pages(
  deliveries: DeliveryCommands,
  filter: DeliveryFilter,
  after: string | undefined,
  limit: number,
): AsyncGenerator<readonly DeliveryView[]> {
  let afterId = after
  let left = limit
  while (left > 0) {
    const size = Math.min(pageSize, left)
    const page = await deliveries.list({ ...filter, afterId, limit: size })
    if (page.length > 0) yield page
    if (page.length < size) return
    afterId = page.at(-1)?.deliveryId
    left -= page.length
  }
}

interface Shown {
  readonly shown: number
  readonly afterId: string
  readonly report: Reporter
}

/** Nothing is left out silently. */
async function tellWhatIsLeft(deliveries: DeliveryCommands, filter: DeliveryFilter, { report, ...shown }: Shown) {
  const [next] = await deliveries.list({ ...filter, afterId: shown.afterId, limit: 1 })
  if (next === undefined) return
  const fit = await deliveries.count(filter)
  report({ event: 'more', ...shown, fit }, (event) => [
    `${grouped(event.shown)} shown, ${grouped(event.fit)} fit in all: --after ${event.afterId} goes on, --all shows every one.`,
  ])
}
