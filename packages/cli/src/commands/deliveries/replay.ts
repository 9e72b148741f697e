/** `payment-integration deliveries replay` and `replay-failed`. @module */
import type { DeliveryCommands, IntegrationView, ReplayTotals } from '@payment-integration/core'
import type { DeliveryFilter } from '@payment-integration/core/ports'
import { UsageError } from '../../errors.js'
import { grouped, table } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import { showCounting } from '../../progress/counting.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { type FilterOptions, filterOf, isUnfiltered } from './filter.js'

/**
 * Makes one delivery due now, whatever its status. A running server sends it, signed with the secret in use.
 * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, `ERR_DELIVERY_UNDER_WAY`, `ERR_DELIVERY_ENDED`.
 */
export function replayDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries, integrations }, report) => {
    const delivery = await deliveries.replay(deliveryId)
    const integration = (await integrations.list()).find(({ address }) => address === delivery.integrationAddress)
    const held = integration === undefined ? null : pauseOf(integration)
    report({ event: 'delivery.replayed', delivery, held }, (event) => [
      event.held === null
        ? `Delivery ${deliveryId} is due now; deliveries show ${deliveryId} prints its attempts.`
        : `Delivery ${deliveryId} is due, but ${pauseText(event.held)}.`,
    ])
  })
}

/** Options of {@link replayFailed}. */
export interface ReplayFailedOptions extends OperateOptions, Omit<FilterOptions, 'status'> {
  /** Replay every exhausted delivery. Required without a filter. @default false */
  readonly all?: boolean | undefined
  /** Only count. @default false */
  readonly dryRun?: boolean | undefined
}

/** Number of exhausted deliveries of one integration. */
interface IntegrationCount {
  readonly integrationAddress: string
  readonly count: number
  readonly held: Pause
}

/**
 * Makes all matching exhausted deliveries due now, without a limit, and shows the progress.
 * @returns 0 when all are due; 1 when it was interrupted: the same command then continues with the rest.
 * @throws UsageError `ERR_USAGE` when neither a filter nor `all` is given.
 */
export async function replayFailed(options: ReplayFailedOptions, io: Io): Promise<ExitCode> {
  const { all = false, dryRun = false, json = false } = options
  const hasFilter = !isUnfiltered(options)
  if (all && hasFilter) throw new UsageError('--all replays every exhausted delivery; omit it, or omit the filters.')
  if (!hasFilter && !all && !dryRun)
    throw new UsageError(
      'Choose deliveries with --integration, --chain, --tx, --since or --until, or pass --all; --dry-run prints how many match.',
    )
  const filter: DeliveryFilter = { ...filterOf(options), status: 'exhausted' }
  let interrupted = false
  await withService(options, io, async ({ deliveries, integrations }, report) => {
    const total = await deliveries.count(filter)
    if (dryRun) {
      const counts = await countByIntegration(deliveries, filter, await integrations.list())
      return report({ event: 'replay.planned', total, integrations: counts }, plannedText)
    }
    const progress = showCounting('Replaying', { io, json, total })
    const totals = await deliveries.replayAll(filter, {
      signal: io.signal,
      onProgress: (done) => {
        progress.reached(sum(done))
        if (json) report({ event: 'replay.progress', ...done, total }, () => [])
      },
    })
    progress.end()
    interrupted = io.signal.aborted && sum(totals) < total
    report({ event: 'replay.done', ...totals, total, interrupted }, doneText)
  })
  return interrupted ? 1 : 0
}

const sum = ({ replayed, underWay }: ReplayTotals) => replayed + underWay

/** Counts matching deliveries by integration, without integrations that have none. */
async function countByIntegration(
  deliveries: DeliveryCommands,
  filter: DeliveryFilter,
  integrations: readonly IntegrationView[],
): Promise<readonly IntegrationCount[]> {
  const { integrationAddress: chosen } = filter
  const counts: IntegrationCount[] = []
  for (const integration of integrations) {
    const { address: integrationAddress } = integration
    if (chosen !== undefined && chosen !== integrationAddress) continue
    const count = await deliveries.count({ ...filter, integrationAddress })
    if (count > 0) counts.push({ integrationAddress, count, held: pauseOf(integration) })
  }
  return counts
}

function plannedText({ total, integrations }: { total: number; integrations: readonly IntegrationCount[] }): string[] {
  if (total === 0) return ['No exhausted delivery matches.']
  const rows = integrations.map(({ integrationAddress, count, held }) => [
    integrationAddress,
    grouped(count),
    pauseText(held),
  ])
  return [
    ...table([['integration', 'deliveries', ''], ...rows]),
    `${counted(total)} would be replayed; nothing was changed.`,
  ]
}

function doneText({
  replayed,
  underWay,
  total,
  interrupted,
}: ReplayTotals & { total: number; interrupted: boolean }): string[] {
  if (total === 0 && replayed + underWay === 0) return ['No exhausted delivery matches.']
  const rest = interrupted
    ? [`Interrupted with ${grouped(total - replayed - underWay)} left; the same command continues with them.`]
    : []
  const skipped = underWay === 0 ? '' : `; ${grouped(underWay)} skipped, because an attempt is in flight`
  return [`${counted(replayed)} ${replayed === 1 ? 'is' : 'are'} due now${skipped}.`, ...rest]
}

const counted = (count: number) => `${grouped(count)} ${count === 1 ? 'delivery' : 'deliveries'}`

/** Why an integration gets no deliveries; null when it gets them. */
type Pause = 'disabled' | 'no_url' | null

/** Why the deliveries of an integration wait. */
function pauseOf({ enabled, notificationUrl }: Pick<IntegrationView, 'enabled' | 'notificationUrl'>): Pause {
  if (!enabled) return 'disabled'
  return notificationUrl === null ? 'no_url' : null
}

/** The reason for the end of a line; empty when deliveries are sent. */
function pauseText(pause: Pause): string {
  if (pause === null) return ''
  return pause === 'disabled' ? 'waits until the integration is enabled' : 'waits until the integration has a URL'
}
