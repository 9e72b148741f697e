/** The numbers and the chart series of the overview. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import { type PaymentState, paymentStates } from '@payment-integration/contract'
import type { ChainStatus, Queries, Service } from '@payment-integration/core'
import type {
  AttemptKind,
  ConsoleAttempt,
  DatabaseSnapshot,
  DeliveryBacklog,
  EndpointView,
  MinuteCount,
  MinuteCounts,
  MinuteVolume,
} from '@payment-integration/core/internal'
import { oldSnapshotMs, sumDecimals } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'

export type SampledService = Pick<Service, 'queries' | 'indexers'>

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export const ranges = {
  '15m': { label: '15 min', ms: 15 * minuteMs, barMs: minuteMs },
  '1h': { label: '1 h', ms: hourMs, barMs: minuteMs },
  '24h': { label: '24 h', ms: 24 * hourMs, barMs: 30 * minuteMs },
  '7d': { label: '7 d', ms: 168 * hourMs, barMs: 180 * minuteMs },
} as const

export type Range = keyof typeof ranges

export interface Overview extends Counts, Pick<LatencyStatistics, 'p50' | 'p95'> {
  readonly at: number
  readonly range: Range
  /** The dots of the latency chart: answered attempts and timeouts of the range, newest first. */
  readonly dots: readonly ConsoleAttempt[]
  readonly backlog: DeliveryBacklog
  /** Pending deliveries by the age of their version, youngest first; each count stops at {@link maxPending}. */
  readonly waiting: Awaited<ReturnType<typeof readWaiting>>
  readonly chains: readonly ChainStatus[]
  readonly endpoints: readonly EndpointView[]
  /** The missing deliveries found so far among the newest versions. */
  readonly missing: number
  readonly oldSnapshot: DatabaseSnapshot | null
}

export const [maxDots, maxPending, maxEndpoints] = [400, 10_000, 100]

async function readWaiting({ countDeliveries }: Queries, pending: number, now: number) {
  const ages = [
    { label: 'under 1 min', since: now - minuteMs },
    { label: '1 to 10 min', since: now - 10 * minuteMs, until: now - minuteMs },
    { label: '10 min to 1 h', since: now - hourMs, until: now - 10 * minuteMs },
    { label: 'over 1 h', since: undefined, until: now - hourMs },
  ]
  const count = (times: { since?: number | undefined; until?: number | undefined }) =>
    pending === 0 ? 0 : countDeliveries({ status: 'pending', ...times }, { atMost: maxPending })
  return Promise.all(ages.map(async ({ label, ...times }) => ({ label, ...times, count: await count(times) })))
}

/** The sum of each currency; the currency with the most payments comes first. */
export function sumVolumes({ counts }: MinuteCounts<string, MinuteVolume>) {
  const sums = [...new Set(counts.map(({ kind }) => kind))].map((currency) => {
    const rows = counts.filter(({ kind }) => kind === currency)
    const payments = rows.reduce((sum, { count }) => sum + count, 0)
    return { currency, payments, amount: sumDecimals(rows.map(({ amount }) => amount)) }
  })
  return sums.sort((a, b) => b.payments - a.payments)
}

export async function readOverview(
  { queries, indexers }: SampledService,
  { readHour, countMissing }: { readonly readHour: () => Promise<Counts>; readonly countMissing: () => number },
  clock: Pick<Clock, 'now'>,
): Promise<Overview> {
  const [hour, attempts, backlog, endpoints, snapshot] = await Promise.all([
    readHour(),
    queries.attempts({ since: Math.max(0, clock.now() - hourMs), limit: maxDots }),
    queries.backlog({ atMost: maxPending }),
    queries.endpoints({ limit: maxEndpoints }),
    queries.oldestSnapshot(),
  ])
  const at = clock.now()
  return {
    ...narrowCounts(hour, findStart(at, '1h')),
    backlog,
    endpoints,
    waiting: await readWaiting(queries, backlog.pending, at),
    at,
    range: '1h',
    missing: countMissing(),
    oldSnapshot: snapshot !== null && snapshot.ageMs >= oldSnapshotMs ? snapshot : null,
    ...latencyPart(attempts),
    chains: indexers.map((indexer) => indexer.status()),
  }
}

/** The latencies of answered attempts and timeouts; a connection that was never accepted has none. */
function latencyPart(attempts: readonly ConsoleAttempt[]) {
  const dots = attempts.filter(({ status, reason }) => status !== null || reason === 'timeout')
  const { p50, p95 } = latencyStatistics(dots.map(({ latencyMs }) => latencyMs))
  return { dots, p50, p95 }
}

/** The first minute of a range. Counts are by the minute: the minute in which the range begins is left out. */
export const findStart = (at: number, range: Range) => Math.max(0, at - (at % minuteMs) + minuteMs - ranges[range].ms)

function narrowCounts({ payments, volumes, attempts }: Counts, since: number): Counts {
  const narrowed = <Kind, Count extends { minute: number }>({ counts, isCut }: MinuteCounts<Kind, Count>) => ({
    counts: counts.filter(({ minute }) => minute >= since),
    isCut,
  })
  return { payments: narrowed(payments), volumes: narrowed(volumes), attempts: narrowed(attempts) }
}

export function narrowOverview(hour: Overview): Overview {
  const since = findStart(hour.at, '15m')
  const latency = latencyPart(hour.dots.filter(({ startedAt }) => startedAt >= since))
  return { ...hour, range: '15m', ...narrowCounts(hour, since), ...latency }
}

export async function widenOverview(hour: Overview, range: '24h' | '7d', { queries }: SampledService) {
  const since = findStart(hour.at, range)
  const [counts, newest] = await Promise.all([readCounts(queries, since), queries.attempts({ since, limit: maxDots })])
  return { ...hour, range, ...counts, ...latencyPart(newest) }
}

/** The shortest range with all activity of the last hour; if none, the shortest with the newest payment, else 1 h. */
export function chooseRange({ payments, attempts, at }: Overview, newestPaymentAt: number): Range {
  const minutes = [...payments.counts, ...attempts.counts].map(({ minute }) => minute)
  if (minutes.length > 0) return Math.min(...minutes) > at - ranges['15m'].ms ? '15m' : '1h'
  if (newestPaymentAt <= at - ranges['7d'].ms) return '1h'
  return newestPaymentAt > at - ranges['24h'].ms ? '24h' : '7d'
}

/** How many versions one read of {@link createMissingCount} examines, to limit its time. */
const versionsPerRead = 2_000
/** Only the newest versions are checked, because a restored copy lacks the newest deliveries. */
const maxChecked = 100_000

/**
 * Counts missing deliveries in the background: once, and then once a minute while any are missing. The returned
 * function yields the count so far, and never waits.
 */
export function createMissingCount(
  { findMissing }: Pick<Queries, 'findMissing'>,
  clock: Pick<Clock, 'now'>,
  onError: (error: unknown) => void,
): () => number {
  let missing = 0
  let checkedAt: number | null = null
  let isChecking = false

  async function check(): Promise<void> {
    let total = 0
    let beforeId: string | undefined
    for (let checked = 0; checked < maxChecked; checked += versionsPerRead) {
      const startedAt = performance.now()
      const part = await findMissing({ beforeId, limit: versionsPerRead })
      total += part.missing
      missing = Math.max(missing, total)
      if (part.lowestId === null || part.examined < versionsPerRead) break
      beforeId = part.lowestId
      // Reads take at most a quarter of the time, because SQLite blocks the process.
      await sleep(3 * (performance.now() - startedAt), undefined, { ref: false })
    }
    missing = total
    checkedAt = clock.now()
  }

  return () => {
    const isDue = checkedAt === null || (missing > 0 && clock.now() - checkedAt >= minuteMs)
    if (isDue && !isChecking) {
      isChecking = true
      check()
        .catch(onError)
        .finally(() => {
          isChecking = false
        })
    }
    return missing
  }
}

export type LatencyStatistics = ReturnType<typeof latencyStatistics>

export function latencyStatistics(latencies: readonly number[]) {
  const sorted = [...latencies].sort((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

interface Counts {
  readonly payments: MinuteCounts<PaymentState | null>
  readonly volumes: MinuteCounts<string, MinuteVolume>
  readonly attempts: MinuteCounts<AttemptKind>
}

/** All minutes are read again after this time, in milliseconds, because old payments change state. */
const refreshMs = 30_000
/** Between these reads, only the minutes of this newest span are read again. */
const newestMs = 2 * minuteMs
/** The most rows of one read. Where there are more, the oldest minutes are marked as incomplete. */
const maxRows = 20_000

type CountReads = Pick<Queries, 'paymentsPerMinute' | 'volumePerMinute' | 'attemptsPerMinute'>

async function readCounts(reads: CountReads, since: number): Promise<Counts> {
  const query = { since, limit: maxRows }
  const [payments, volumes, attempts] = await Promise.all([
    reads.paymentsPerMinute(query),
    reads.volumePerMinute(query),
    reads.attemptsPerMinute(query),
  ])
  return { payments, volumes, attempts }
}

export function createHourCounts(reads: CountReads, clock: Pick<Clock, 'now'>) {
  let newestHour: (Counts & { readonly at: number }) | null = null
  return async (): Promise<Counts> => {
    const isHourDue = newestHour === null || clock.now() - newestHour.at >= refreshMs || clock.now() < newestHour.at
    const start = clock.now() - (isHourDue ? hourMs : newestMs)
    const since = Math.max(0, start - (start % minuteMs))
    const counts = await readCounts(reads, since)
    if (isHourDue || newestHour === null) newestHour = { at: clock.now(), ...counts }
    else
      newestHour = {
        at: newestHour.at,
        payments: joinCounts(newestHour.payments, counts.payments, since),
        volumes: joinCounts(newestHour.volumes, counts.volumes, since),
        attempts: joinCounts(newestHour.attempts, counts.attempts, since),
      }
    return newestHour
  }
}

function joinCounts<Kind, Count extends { readonly minute: number }>(
  before: MinuteCounts<Kind, Count>,
  after: MinuteCounts<Kind, Count>,
  since: number,
): MinuteCounts<Kind, Count> {
  const older = before.counts.filter(({ minute }) => minute < since)
  return { counts: [...older, ...after.counts], isCut: before.isCut || after.isCut }
}

export type StackedSeries = ReturnType<typeof stackCounts>

const attemptKinds: AttemptKind[] = ['delivered', 'redirect', 'client_error', 'server_error', 'timeout', 'no_answer']

export function chartData(overview: Overview) {
  const { ms, barMs } = ranges[overview.range]
  const last = overview.at - (overview.at % barMs)
  // Bars begin at the oldest activity, and are at least six. Math.min(...) fails for the many counts of a week.
  const counts = [...overview.payments.counts, ...overview.attempts.counts]
  const oldest = counts.reduce((min, { minute }) => Math.min(min, minute), last - 5 * barMs)
  const all = Array.from({ length: ms / barMs }, (_, n) => last - (ms / barMs - 1 - n) * barMs)
  const bars = all.filter((bar) => bar + barMs > oldest)
  // Oldest first: start in unix seconds, latency in ms, 1 for a success, delivery id. The logarithmic axis has no 0 ms.
  const toDot = ({ startedAt, latencyMs, reason, deliveryId }: ConsoleAttempt) =>
    [startedAt / 1_000, Math.max(1, Math.round(latencyMs)), reason === null ? 1 : 0, deliveryId] as const
  const dots = overview.dots.map(toDot).reverse()
  return {
    payments: stackCounts(bars, barMs, overview.payments.counts, [null, ...paymentStates]),
    attempts: stackCounts(bars, barMs, overview.attempts.counts, attemptKinds),
    latency: { dots, p50: overview.p50, p95: overview.p95 },
  }
}

function stackCounts<Kind extends string | null>(
  bars: readonly number[],
  barMs: number,
  counts: readonly MinuteCount<Kind>[],
  kinds: readonly Kind[],
) {
  const sums = new Map<string, number>()
  for (const { minute, kind, count } of counts) {
    const key = `${minute - (minute % barMs)}:${kind}`
    sums.set(key, (sums.get(key) ?? 0) + count)
  }
  const getValues = (kind: Kind) => bars.map((bar) => sums.get(`${bar}:${kind}`) ?? 0)
  const all = kinds.map((kind) => ({ name: kind ?? 'no_state', values: getValues(kind) }))
  const series = all.filter(({ values }) => values.some((value) => value > 0))
  // The times are the start of each bar, in unix seconds.
  return { barMs, times: bars.map((bar) => bar / 1_000), series }
}
