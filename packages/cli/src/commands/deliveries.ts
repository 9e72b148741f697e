/** `payment-integration deliveries …`: prints, replays and repairs deliveries of notifications. @module */

import {
  answerText,
  type CheckTotals,
  type DeliveryCommands,
  type IntegrationView,
  type ReplayTotals,
} from '@payment-integration/core'
import type {
  AttemptRecord,
  DeliveryFilter,
  DeliveryStatus,
  DeliveryView,
  EndpointView,
} from '@payment-integration/core/ports'
import { type Command, Option } from 'commander'
import {
  addGroup,
  examples,
  type Finish,
  momentParser,
  optionsOf,
  parseAddress,
  parseChainId,
  parseDeliveryId,
  parseTxHash,
  wholeNumberParser,
  withActor,
} from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { exactMomentText, grouped, momentText, type Reporter, shortHash, table } from '../output.js'
import { progressEveryMs, showCounting } from '../progress.js'
import { type OperateOptions, withService } from '../with-service.js'

const idHelp = 'id of the delivery, as deliveries list prints it'
const statuses = ['pending', 'delivered', 'exhausted', 'superseded', 'missing'] as const
const exampleAddress = `0x${'a1'.repeat(20)}`

/** Adds the group and its commands. */
export function addDeliveries(program: Command, io: Io, finish: Finish): void {
  const list = 'deliveries list --status exhausted --since 2h'
  const dryRun = `deliveries replay-failed --integration ${exampleAddress} --dry-run`
  const add = addGroup(
    program,
    'deliveries',
    'list and replay deliveries of notifications',
    list,
    'deliveries show 42',
    dryRun,
  )

  withFilters(add('list', 'list deliveries, oldest first'), io)
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(statuses))
    .option(
      '--limit <number>',
      `print at most this many deliveries (default ${defaultLimit})`,
      wholeNumberParser(1, 1_000_000),
    )
    .option('--after <id>', 'start after the delivery with this id', parseDeliveryId)
    .addOption(new Option('--all', 'print all deliveries').conflicts('limit'))
    .addOption(
      new Option('--count', 'print only the number of matching deliveries').conflicts(['limit', 'all', 'after']),
    )
    .addHelpText('after', examples(list, 'deliveries list --count --status pending', 'deliveries list --all --json'))
    .action(async (_options, command) => finish(await listDeliveries(optionsOf<ListDeliveriesOptions>(command), io)))
  add('show', 'show one delivery with all its attempts')
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries show 42', 'deliveries show 42 --json'))
    .action(async (id: string, _options, command) =>
      finish(await showDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('replay', 'make one delivery due now, whatever its status; the running server sends it'))
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries replay 42'))
    .action(async (id: string, _options, command) =>
      finish(await replayDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(withFilters(add('replay-failed', 'make all matching exhausted deliveries due now'), io))
    .option('--all', 'replay every exhausted delivery')
    .option('--dry-run', 'print the number of deliveries for each integration; change nothing')
    .addHelpText(
      'after',
      examples(dryRun, 'deliveries replay-failed --since 7d', 'deliveries replay-failed --all --json'),
    )
    .action(async (_options, command) => finish(await replayFailed(optionsOf<ReplayFailedOptions>(command), io)))
  withActor(add('check', 'find deliveries that are missing after a restore: neither sent nor in the outbox'))
    .option('--repair', 'make them due again; the running server sends them')
    .addHelpText('after', examples('deliveries check', 'deliveries check --repair', 'deliveries list --status missing'))
    .action(async (_options, command) => finish(await checkDeliveries(optionsOf<CheckOptions>(command), io)))
  add('endpoints', 'list failing endpoints: failures in a row, since when, and blocked until when')
    .addHelpText('after', examples('deliveries endpoints'))
    .action(async (_options, command) => finish(await listEndpoints(optionsOf<OperateOptions>(command), io)))
}

/** Prints a delivery with all its attempts. @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
function showDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const delivery = await deliveries.find(deliveryId)
    report({ event: 'delivery', delivery }, (event) => deliveryText(event.delivery))
  })
}

/** Prints failing endpoints. With `json`, prints one object each, or nothing. */
function listEndpoints(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const endpoints = await deliveries.endpoints()
    if (options.json) for (const endpoint of endpoints) report({ event: 'endpoint', endpoint }, () => [])
    else if (endpoints.length === 0) io.out('No endpoint is failing.')
    else for (const line of endpointsText(endpoints)) io.out(line)
  })
}

/** Options that choose deliveries. A delivery must match all that are given. */
interface FilterOptions {
  /** Integration address. */
  readonly integration?: string | undefined
  readonly chain?: number | undefined
  /** Transaction hash. */
  readonly tx?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** Created at this unix time in milliseconds, or later. */
  readonly since?: number | undefined
  /** Created before this unix time in milliseconds. */
  readonly until?: number | undefined
}

/** Adds the options to a command, except `--status`. */
function withFilters(command: Command, io: Io): Command {
  const parseMoment = momentParser(io.now)
  return command
    .option('--integration <address>', 'only deliveries to this integration', parseAddress)
    .option('--chain <id>', 'only deliveries of payments on this chain', (text) => parseChainId(text))
    .option('--tx <hash>', 'only deliveries of payments in this transaction', parseTxHash)
    .option('--since <time>', 'created then or later: 2026-03-01T09:30Z, or 2h for two hours ago', parseMoment)
    .option('--until <time>', 'created before this time', parseMoment)
}

/**
 * The filter that the options describe.
 * @throws UsageError `ERR_USAGE` when `since` is not before `until`.
 */
function filterOf({ integration, chain, tx, status, since, until }: FilterOptions): DeliveryFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since is not before --until, so no delivery can match; exchange them.')
  return { integrationAddress: integration, chainId: chain, txHash: tx, status, since, until }
}

/** Whether no option is given, so that every delivery matches. */
function isUnfiltered({ integration, chain, tx, status, since, until }: FilterOptions): boolean {
  return [integration, chain, tx, status, since, until].every((each) => each === undefined)
}

/** Options of {@link listDeliveries}. */
interface ListDeliveriesOptions extends OperateOptions, FilterOptions {
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
const defaultLimit = 50
/** Deliveries of one query: neither side holds a long list in memory. */
const pageSize = 500

/**
 * Prints matching deliveries, oldest first. With `json`, prints one object each.
 * @throws UsageError `ERR_USAGE`; InterruptedError.
 */
function listDeliveries(options: ListDeliveriesOptions, io: Io): Promise<ExitCode> {
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

/** Columns of a list, with fixed widths because the list is printed page by page. */
const columns = [
  ['id', 8],
  ['created', 20],
  ['status', 10],
  ['chain', 6],
  ['transaction', 14],
  ['version', 7],
  ['attempts', 8],
  ['last answer', 17],
  ['next attempt', 20],
  ['integration', 14],
] as const

/** The line above a list. */
const deliveryHeads = row(columns.map(([head]) => head))

/** One line about a delivery. */
function deliveryLine(delivery: DeliveryView): string {
  const { deliveryId, createdAt, status, chainId, txHash, version, attempts, nextAttemptAt } = delivery
  return row([
    ...[deliveryId, momentText(createdAt), status, String(chainId), shortHash(txHash), `v${version}`],
    ...[
      String(attempts.length),
      lastAnswer(delivery),
      momentText(nextAttemptAt),
      shortHash(delivery.integrationAddress),
    ],
  ])
}

/** All details of a delivery, with its attempts. */
function deliveryText(delivery: DeliveryView): string[] {
  const { deliveryId, status, integrationAddress, chainId, txHash, version, createdAt, nextAttemptAt, attempts } =
    delivery
  return [
    `Delivery ${deliveryId}: ${status}`,
    `  Integration   ${integrationAddress}`,
    `  Payment       chain ${chainId}, ${txHash}, version ${version}`,
    `  Created       ${momentText(createdAt)}`,
    `  Next attempt  ${momentText(nextAttemptAt)}`,
    `  Attempts      ${grouped(attempts.length)}`,
    ...attempts.flatMap((attempt, index) => attemptText(attempt, index + 1)),
  ]
}

/** A table of failing endpoints. */
function endpointsText(endpoints: readonly EndpointView[]): string[] {
  const rows = endpoints.map(({ integrationAddress, failures, failingSince, blockedUntil }) => [
    ...[integrationAddress, grouped(failures), momentText(failingSince), momentText(blockedUntil)],
  ])
  return table([['integration', 'failures', 'failing since', 'blocked until'], ...rows])
}

function attemptText(
  { startedAt, latencyMs, status, reason, excerpt, replay }: AttemptRecord,
  number: number,
): string[] {
  const answer = answerText({ status, reason })
  const parts = [
    ...[String(number).padStart(4), exactMomentText(startedAt), answer, `${grouped(latencyMs)} ms`],
    ...(replay ? ['replay'] : []),
  ]
  // The receiver wrote the excerpt: control characters must not move the cursor.
  const lines = excerpt === null ? [] : excerpt.split('\n').map((line) => `      | ${line}`.trimEnd())
  return [parts.join('  '), ...lines]
}

function lastAnswer({ attempts }: DeliveryView): string {
  const last = attempts.at(-1)
  return last === undefined ? '-' : answerText(last)
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(columns[index]?.[1] ?? 0))
    .join('  ')
    .trimEnd()
}

/**
 * Makes one delivery due now, whatever its status. A running server sends it, signed with the secret in use.
 * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, `ERR_DELIVERY_UNDER_WAY`, `ERR_DELIVERY_ENDED`.
 */
function replayDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
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
interface ReplayFailedOptions extends OperateOptions, Omit<FilterOptions, 'status'> {
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
async function replayFailed(options: ReplayFailedOptions, io: Io): Promise<ExitCode> {
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

/** Options of {@link checkDeliveries}. */
interface CheckOptions extends OperateOptions {
  /** Make missing deliveries due again. @default false */
  readonly repair?: boolean | undefined
}

/**
 * Counts missing deliveries and, with `repair`, makes them due again. Progress is shown on a terminal.
 * @returns 0 when none is missing any more; 1 when some are, or when it was interrupted.
 */
async function checkDeliveries({ repair = false, ...options }: CheckOptions, io: Io): Promise<ExitCode> {
  let isWhole = false
  await withService(options, io, async ({ deliveries }, report) => {
    const show = progressOf(io, options.json ?? false)
    const totals = await deliveries.check({ repair, signal: io.signal, onProgress: show })
    io.live?.([])
    const interrupted = io.signal.aborted
    isWhole = !interrupted && totals.missing === totals.requeued
    report({ event: 'check.done', ...totals, repair, interrupted }, checkText)
  })
  return isWhole ? 0 : 1
}

/** Shows progress: one line of a terminal, or without a terminal a new line every ten seconds. */
function progressOf(io: Io, json: boolean): (done: CheckTotals) => void {
  let printedAt = io.now()
  return ({ examined, missing }) => {
    if (json) return
    const line = `Checking: ${grouped(examined)} versions examined, ${grouped(missing)} deliveries missing`
    if (io.live !== undefined) return io.live([line])
    if (io.now() - printedAt < progressEveryMs.log) return
    printedAt = io.now()
    io.out(line)
  }
}

function checkText({ examined, missing, requeued, repair, interrupted }: CheckTotals & CheckResult): string[] {
  const found = `${grouped(examined)} versions examined, ${grouped(missing)} ${missing === 1 ? 'delivery is' : 'deliveries are'} missing`
  const lines = [repair && missing > 0 ? `${found}; ${grouped(requeued)} due again.` : `${found}.`]
  if (interrupted) lines.push('Interrupted: older versions were not examined.')
  if (!repair && missing > 0)
    lines.push('deliveries list --status missing prints them; deliveries check --repair makes them due again.')
  return lines
}

interface CheckResult {
  readonly repair: boolean
  readonly interrupted: boolean
}
