/** `payment-integration deliveries replay` and `replay-failed`. @module */
import type { DeliveryCommands, DeliveryFilter, IntegrationView, ReplayTotals } from '@payment-integration/core'
import { UsageError } from '../../errors.js'
import { grouped, table } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import { showCounting } from '../../progress/counting.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { choosesNothing, type FilterOptions, filterOf } from './filter.js'

/**
 * Makes one delivery due now, whatever its status. A running server sends it, signed with the secret of that moment.
 * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, `ERR_DELIVERY_UNDER_WAY`.
 */
export function replayDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries, integrations }, report) => {
    const delivery = await deliveries.replay(deliveryId)
    const integration = (await integrations.list()).find(({ address }) => address === delivery.integrationAddress)
    const held = integration === undefined ? null : heldBy(integration)
    report({ event: 'delivery.replayed', delivery, held }, (event) => [
      event.held === null
        ? `Delivery ${deliveryId} is due now; deliveries show ${deliveryId} tells what comes of it.`
        : `Delivery ${deliveryId} is due, and ${heldText(event.held)}.`,
    ])
  })
}

/** Options of {@link replayFailed}. */
export interface ReplayFailedOptions extends OperateOptions, Omit<FilterOptions, 'status'> {
  /** Every exhausted delivery. Without it something must be chosen. @default false */
  readonly all?: boolean | undefined
  /** Count only. @default false */
  readonly dryRun?: boolean | undefined
}

/** Exhausted deliveries of one integration. */
interface Share {
  readonly integrationAddress: string
  readonly count: number
  readonly held: Held
}

/**
 * Makes every exhausted delivery due that fits, without a cap, and shows how far it is. It asks nothing: what is meant is said by the
 * options, and `dryRun` tells before what it would be.
 * @returns 0 when all of them are due; 1 when it was interrupted: those that it printed are due, and the same command goes on.
 * @throws UsageError `ERR_USAGE` when nothing is chosen and `all` is not given.
 */
export async function replayFailed(options: ReplayFailedOptions, io: Io): Promise<ExitCode> {
  const { all = false, dryRun = false, json = false } = options
  const isUnbounded = choosesNothing(options)
  if (all && !isUnbounded)
    throw new UsageError('--all is every exhausted delivery; leave it out, or the other filters.')
  if (isUnbounded && !all && !dryRun)
    throw new UsageError(
      'Say which ones, with --integration, --chain, --tx, --since or --until, or --all; --dry-run shows how many they are.',
    )
  const filter: DeliveryFilter = { ...filterOf(options), status: 'exhausted' }
  let interrupted = false
  await withService(options, io, async ({ deliveries, integrations }, report) => {
    const total = await deliveries.count(filter)
    if (dryRun) {
      const shares = await sharesOf(deliveries, filter, await integrations.list())
      return report({ event: 'replay.planned', total, integrations: shares }, plannedText)
    }
    const counting = showCounting('Replaying', { io, json, total })
    const totals = await deliveries.replayAll(filter, {
      signal: io.signal,
      onProgress: (done) => {
        counting.reached(sum(done))
        if (json) report({ event: 'replay.progress', ...done, total }, () => [])
      },
    })
    counting.end()
    interrupted = io.signal.aborted && sum(totals) < total
    report({ event: 'replay.done', ...totals, total, interrupted }, doneText)
  })
  return interrupted ? 1 : 0
}

const sum = ({ replayed, underWay }: ReplayTotals) => replayed + underWay

/** How they divide by integration, those with none left out. */
async function sharesOf(
  deliveries: DeliveryCommands,
  filter: DeliveryFilter,
  integrations: readonly IntegrationView[],
): Promise<readonly Share[]> {
  const { integrationAddress: chosen } = filter
  const shares: Share[] = []
  for (const integration of integrations) {
    const { address: integrationAddress } = integration
    if (chosen !== undefined && chosen !== integrationAddress) continue
    const count = await deliveries.count({ ...filter, integrationAddress })
    if (count > 0) shares.push({ integrationAddress, count, held: heldBy(integration) })
  }
  return shares
}

function plannedText({ total, integrations }: { total: number; integrations: readonly Share[] }): string[] {
  if (total === 0) return ['No exhausted delivery fits.']
  const rows = integrations.map(({ integrationAddress, count, held }) => [
    integrationAddress,
    grouped(count),
    heldText(held),
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
  if (total === 0 && replayed + underWay === 0) return ['No exhausted delivery fits.']
  const left = interrupted
    ? [`Interrupted with ${grouped(total - replayed - underWay)} left: the same command goes on with them.`]
    : []
  const held = underWay === 0 ? '' : `; ${grouped(underWay)} left alone, because their attempt is under way`
  return [`${counted(replayed)} ${replayed === 1 ? 'is' : 'are'} due now${held}.`, ...left]
}

const counted = (count: number) => `${grouped(count)} ${count === 1 ? 'delivery' : 'deliveries'}`

/** Why nothing is sent to an integration now; null: it is. */
export type Held = 'disabled' | 'no_url' | null

/** What holds an integration's deliveries. */
export function heldBy({ enabled, notificationUrl }: Pick<IntegrationView, 'enabled' | 'notificationUrl'>): Held {
  if (!enabled) return 'disabled'
  return notificationUrl === null ? 'no_url' : null
}

/** Says so, for the end of a line; empty when nothing holds them. */
export function heldText(held: Held): string {
  if (held === null) return ''
  return held === 'disabled' ? 'waits until the integration is enabled' : 'waits until the integration has a URL'
}
