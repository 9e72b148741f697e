/** `payment-integration deliveries …`: prints, replays and repairs deliveries of notifications. @module */
import type { IntegrationView } from '@payment-integration/core'
import {
  type AttemptRecord,
  type CheckTotals,
  type DeliveryCommands,
  type DeliveryFilter,
  type DeliveryStatus,
  type DeliveryView,
  type EndpointView,
  formatAnswer,
  type ReplayTotals,
} from '@payment-integration/core/internal'
import { type Command, Option } from 'commander'
import type { Cli, Options } from '../command.js'
import {
  addGroup,
  checkTimes,
  defaultLimit,
  exampleAddress,
  limitOption,
  momentParser,
  parseAddress,
  parseChainId,
  parseDeliveryId,
  parseTxHash,
} from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { type Columns, formatCount, groupDigits, momentText, shortHash, toTable } from '../output.js'
import { countingLine } from '../progress.js'
import { type OperateOptions, type Operation, operate, withService } from '../with-service.js'

const idHelp = 'id of the delivery, as deliveries list prints it'
const statuses = ['pending', 'delivered', 'exhausted', 'superseded', 'missing'] as const

export function addDeliveries(cli: Cli): void {
  const list = 'list --status exhausted --since 2h'
  const dryRun = `replay-failed --integration ${exampleAddress} --dry-run`
  const about = 'list and replay deliveries of notifications'
  const { add, change } = addGroup(cli, 'deliveries', about, list, 'show 42', dryRun)

  withFilters(add('list', listDeliveries, list, 'list --count --status pending', 'list --all --json'), cli.io)
    .description('list deliveries, oldest first')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(statuses))
    .option(...limitOption('deliveries'))
    .option('--after <id>', 'start after the delivery with this id', parseDeliveryId)
    .addOption(new Option('--all', 'print all deliveries').conflicts('limit'))
    .addOption(
      new Option('--count', 'print only the number of matching deliveries').conflicts(['limit', 'all', 'after']),
    )
  add('show', showDelivery, 'show 42', 'show 42 --json')
    .description('show one delivery with all its attempts')
    .argument('<id>', idHelp, parseDeliveryId)
  change('replay', replayDelivery, 'replay 42')
    .description('make one delivery due now, whatever its status; the running server sends it')
    .argument('<id>', idHelp, parseDeliveryId)
  const examples = [dryRun, 'replay-failed --since 7d', 'replay-failed --all --json']
  withFilters(change('replay-failed', replayFailed, ...examples), cli.io)
    .description('make all matching exhausted deliveries due now')
    .option('--all', 'replay every exhausted delivery')
    .option('--dry-run', 'print the number of deliveries for each integration; change nothing')
  change('check', checkDeliveries, 'check', 'check --repair', 'list --status missing')
    .description('find deliveries that are missing after a restore: neither sent nor in the outbox')
    .option('--repair', 'make them due again; the running server sends them')
  add('endpoints', listEndpoints, 'endpoints').description(
    'list failing endpoints: failures in a row, since when, and until when they are blocked',
  )
}

const showDelivery = operate(async ({ deliveries }, { report }, deliveryId: string) => {
  const delivery = await deliveries.find(deliveryId)
  report({ event: 'delivery', delivery }, () => deliveryText(delivery))
})

const listEndpoints = operate(async ({ deliveries }, { report }) => {
  const event = (endpoint: EndpointView) => ({ event: 'endpoint', endpoint })
  report.all(await deliveries.endpoints(), event, (all) => toTable(all, endpointColumns), 'No endpoint is failing.')
})

type FilterOptions = Options<'integration' | 'tx', string> &
  Options<'chain' | 'since' | 'until', number> &
  Options<'status', DeliveryStatus>

function withFilters(command: Command, io: Io): Command {
  const parseMoment = momentParser(io)
  return command
    .option('--integration <address>', 'only deliveries to this integration', parseAddress)
    .option('--chain <id>', 'only deliveries of payments on this chain', parseChainId)
    .option('--tx <hash>', 'only deliveries of payments in this transaction', parseTxHash)
    .option('--since <time>', 'created at or after this time: 2026-03-01T09:30Z, or 2h for two hours ago', parseMoment)
    .option('--until <time>', 'created before this time', parseMoment)
}

function buildFilter({ integration, chain, tx, status, since, until }: FilterOptions): DeliveryFilter {
  checkTimes({ since, until }, 'delivery')
  return { integrationAddress: integration, chainId: chain, txHash: tx, status, since, until }
}

type ListOptions = OperateOptions &
  FilterOptions &
  Options<'limit', number> &
  Options<'after', string> &
  Options<'all' | 'count'>

/** The most deliveries that one query reads, so that no long list is in memory. */
const pageSize = 500

function listDeliveries(options: ListOptions, io: Io): Promise<ExitCode> {
  const { all = false, limit = defaultLimit, after, count = false } = options
  const filter = buildFilter(options)
  return withService(options, io, async ({ deliveries }, report) => {
    if (count) return report({ event: 'count', count: await deliveries.count(filter) }, (event) => [`${event.count}`])
    const maxPrinted = all ? Number.POSITIVE_INFINITY : limit
    let [printed, afterId] = [0, after]
    for (let hasMore = true; hasMore && printed < maxPrinted; ) {
      const size = Math.min(pageSize, maxPrinted - printed)
      const page = await deliveries.list({ ...filter, afterId, limit: size })
      if (printed === 0 && page.length > 0) report.note(deliveryHeader)
      for (const delivery of page)
        report({ event: 'delivery', delivery }, () => [formatRow(columns.map(([, , cell]) => cell(delivery)))])
      hasMore = page.length === size
      printed += page.length
      afterId = page.at(-1)?.deliveryId ?? afterId
      if (io.signal.aborted) throw new InterruptedError('Interrupted; more deliveries may match.')
    }
    if (printed === 0) report.note('No delivery matches.')
    if (all || afterId === undefined) return
    const [next] = await deliveries.list({ ...filter, afterId, limit: 1 })
    if (next === undefined) return
    report({ event: 'more', shown: printed, afterId, total: await deliveries.count(filter) }, ({ total }) => [
      `${groupDigits(printed)} shown, ${groupDigits(total)} match in all; continue with --after ${afterId}, or print all with --all.`,
    ])
  })
}

/** The columns of a list. Their widths are fixed, because the list is printed page by page. */
const columns: readonly (readonly [head: string, width: number, cell: (each: DeliveryView) => string])[] = [
  ['id', 8, ({ deliveryId }) => deliveryId],
  ['created', 20, ({ createdAt }) => momentText(createdAt)],
  ['status', 10, ({ status }) => status],
  ['chain', 6, ({ chainId }) => String(chainId)],
  ['transaction', 14, ({ txHash }) => shortHash(txHash)],
  ['version', 7, ({ version }) => `v${version}`],
  ['attempts', 8, ({ attempts }) => String(attempts.length)],
  ['last answer', 17, ({ attempts }) => attempts.slice(-1).map(formatAnswer)[0] ?? '-'],
  ['next attempt', 20, ({ nextAttemptAt }) => momentText(nextAttemptAt)],
  ['integration', 14, ({ integrationAddress }) => shortHash(integrationAddress)],
]

const deliveryHeader = formatRow(columns.map(([head]) => head))

function deliveryText(delivery: DeliveryView): string[] {
  const { deliveryId, status, integrationAddress, chainId, txHash, version, createdAt, nextAttemptAt, attempts } =
    delivery
  return [
    `Delivery ${deliveryId}: ${status}`,
    `  Integration   ${integrationAddress}`,
    `  Payment       chain ${chainId}, ${txHash}, version ${version}`,
    `  Created       ${momentText(createdAt)}`,
    `  Next attempt  ${momentText(nextAttemptAt)}`,
    `  Attempts      ${groupDigits(attempts.length)}`,
    ...attempts.flatMap((attempt, index) => attemptText(attempt, index + 1)),
  ]
}

const endpointColumns: Columns<EndpointView> = {
  integration: ({ integrationAddress }) => integrationAddress,
  failures: ({ failures }) => failures,
  'failing since': ({ failingSince }) => momentText(failingSince),
  'blocked until': ({ blockedUntil }) => momentText(blockedUntil),
}

function attemptText({ startedAt, latencyMs, status, reason, excerpt, replay }: AttemptRecord, number: number) {
  const answer = formatAnswer({ status, reason })
  const at = new Date(startedAt).toISOString().replace('T', ' ')
  const line = `${String(number).padStart(4)}  ${at}  ${answer}  ${groupDigits(latencyMs)} ms`
  // The receiver wrote the excerpt: its lines are printed one by one, and `plainOutput` removes control characters.
  const lines = excerpt === null ? [] : excerpt.split('\n').map((line) => `      | ${line}`.trimEnd())
  return [replay ? `${line}  replay` : line, ...lines]
}

function formatRow(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(columns[index]?.[1] ?? 0))
    .join('  ')
    .trimEnd()
}

const replayDelivery = operate(async ({ deliveries, integrations }, { report }, deliveryId: string) => {
  const delivery = await deliveries.replay(deliveryId)
  const integration = (await integrations.list()).find(({ address }) => address === delivery.integrationAddress)
  const pauseReason = integration === undefined ? null : findPauseReason(integration)
  report({ event: 'delivery.replayed', delivery, pauseReason }, () => [
    pauseReason === null
      ? `Delivery ${deliveryId} is due now; deliveries show ${deliveryId} prints its attempts.`
      : `Delivery ${deliveryId} is due, but ${pauseText(pauseReason)}.`,
  ])
})

interface IntegrationCount {
  readonly integrationAddress: string
  readonly count: number
  readonly pauseReason: PauseReason
}

type ReplayFailedOptions = OperateOptions & FilterOptions & Options<'all' | 'dryRun'>

/**
 * Makes all matching exhausted deliveries due now, without a limit, and shows the progress.
 * @returns 0 when complete; 1 after an interruption: the same command then continues with the other deliveries.
 */
function replayFailed(options: ReplayFailedOptions, io: Io): Promise<ExitCode> {
  const { all = false, dryRun = false } = options
  const chosen = buildFilter(options)
  const hasFilter = Object.values(chosen).some((each) => each !== undefined)
  if (all && hasFilter) throw new UsageError('--all replays every exhausted delivery; omit it, or omit the filters.')
  if (!hasFilter && !all && !dryRun)
    throw new UsageError(
      'Choose deliveries with --integration, --chain, --tx, --since or --until, or pass --all; --dry-run prints how many match.',
    )
  const filter: DeliveryFilter = { ...chosen, status: 'exhausted' }
  return withService(options, io, async ({ deliveries, integrations }, report) => {
    const total = await deliveries.count(filter)
    if (dryRun) {
      const counts = await countByIntegration(deliveries, filter, await integrations.list())
      report({ event: 'replay.planned', total, integrations: counts }, plannedText)
      return 0
    }
    const startedAt = io.now()
    const totals = await deliveries.replayAll(filter, {
      signal: io.signal,
      onProgress: (done) => {
        report.progress(countingLine('Replaying', { done: sum(done), total, ms: io.now() - startedAt }))
        report({ event: 'replay.progress', ...done, total }, () => [])
      },
    })
    const interrupted = io.signal.aborted && sum(totals) < total
    report({ event: 'replay.done', ...totals, total, interrupted }, doneText)
    return interrupted ? 1 : 0
  })
}

const sum = ({ replayed, inFlight }: ReplayTotals) => replayed + inFlight

/** Counts matching deliveries by integration, without integrations that have none. */
async function countByIntegration(
  deliveries: DeliveryCommands,
  filter: DeliveryFilter,
  integrations: readonly IntegrationView[],
): Promise<readonly IntegrationCount[]> {
  const counts: IntegrationCount[] = []
  for (const integration of integrations) {
    const { address: integrationAddress } = integration
    if ((filter.integrationAddress ?? integrationAddress) !== integrationAddress) continue
    const count = await deliveries.count({ ...filter, integrationAddress })
    if (count > 0) counts.push({ integrationAddress, count, pauseReason: findPauseReason(integration) })
  }
  return counts
}

function plannedText({ total, integrations }: { total: number; integrations: readonly IntegrationCount[] }): string[] {
  if (total === 0) return ['No exhausted delivery matches.']
  return [
    ...toTable(integrations, plannedColumns),
    `${formatCount(total, 'delivery', 'deliveries')} would be replayed; nothing was changed.`,
  ]
}

const plannedColumns: Columns<IntegrationCount> = {
  integration: ({ integrationAddress }) => integrationAddress,
  deliveries: ({ count }) => count,
  '': ({ pauseReason }) => pauseText(pauseReason),
}

function doneText(event: ReplayTotals & { readonly total: number; readonly interrupted: boolean }): string[] {
  const { replayed, inFlight, total, interrupted } = event
  if (total === 0 && replayed + inFlight === 0) return ['No exhausted delivery matches.']
  const skipped = inFlight === 0 ? '' : `; ${groupDigits(inFlight)} skipped, because an attempt is in flight`
  return [
    `${formatCount(replayed, 'delivery is', 'deliveries are')} due now${skipped}.`,
    ...(interrupted
      ? [`Interrupted with ${groupDigits(total - replayed - inFlight)} left; the same command continues with them.`]
      : []),
  ]
}

/** The reason why an integration gets no deliveries; null: it gets them. */
type PauseReason = 'disabled' | 'no_url' | null

function findPauseReason({ enabled, notificationUrl }: IntegrationView): PauseReason {
  if (!enabled) return 'disabled'
  return notificationUrl === null ? 'no_url' : null
}

function pauseText(reason: PauseReason): string {
  if (reason === null) return ''
  return reason === 'disabled' ? 'waits until the integration is enabled' : 'waits until the integration has a URL'
}

type CheckOptions = OperateOptions & Options<'repair'>

/**
 * Counts missing deliveries and, with `repair`, makes them due. Shows progress on a terminal.
 * @returns 0 when no delivery is missing any more; 1 when some are, or after an interruption.
 */
const checkDeliveries = operate(async ({ deliveries }, { report, options, io }: Operation<CheckOptions>) => {
  const { repair = false } = options
  const onProgress = ({ examined, missing }: CheckTotals) =>
    report.progress(`Checking: ${groupDigits(examined)} versions examined, ${groupDigits(missing)} deliveries missing`)
  const totals = await deliveries.check({ repair, signal: io.signal, onProgress })
  const interrupted = io.signal.aborted
  const { examined, missing, requeued } = totals
  const result = `${groupDigits(examined)} versions examined, ${formatCount(missing, 'delivery is', 'deliveries are')} missing`
  report({ event: 'check.done', ...totals, repair, interrupted }, () => [
    repair && missing > 0 ? `${result}; ${groupDigits(requeued)} due again.` : `${result}.`,
    ...(interrupted ? ['Interrupted: older versions were not examined.'] : []),
    ...(!repair && missing > 0
      ? ['deliveries list --status missing prints them; deliveries check --repair makes them due again.']
      : []),
  ])
  return !interrupted && missing === requeued ? 0 : 1
})
