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
} from '@payment-integration/core/internal'
import { oldSnapshotMs } from '@payment-integration/core/internal'

/** The parts of the service that the sampler reads. */
export type SampledService = Pick<Service, 'queries' | 'indexers'>

/** All numbers, at one moment. */
export interface Overview extends Hour, Pick<LatencyStatistics, 'p50' | 'p95'> {
  readonly at: number
  /** Newest attempts of the last hour, newest first; the dots of the latency chart. */
  readonly dots: readonly ConsoleAttempt[]
  readonly backlog: DeliveryBacklog
  readonly chains: readonly ChainStatus[]
  readonly endpoints: readonly EndpointView[]
  /** Missing deliveries among the newest versions, as far as they are examined. */
  readonly missing: number
  /** A database snapshot that has been open for long, or null. */
  readonly oldSnapshot: DatabaseSnapshot | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const maxDots = 400
const maxPending = 10_000
/** Failing endpoints that are counted. */
export const maxEndpoints = 100

/** Reads all numbers of the overview. */
export async function readOverview(
  { queries, indexers }: SampledService,
  { hours, missing }: { readonly hours: () => Promise<Hour>; readonly missing: () => number },
  now: () => number,
): Promise<Overview> {
  const [hour, dots, backlog, endpoints, snapshot] = await Promise.all([
    hours(),
    queries.attempts({ since: Math.max(0, now() - hourMs), limit: maxDots }),
    queries.backlog({ atMost: maxPending }),
    queries.endpoints({ limit: maxEndpoints }),
    queries.oldestSnapshot(),
  ])
  return {
    ...{ payments: hour.payments, attempts: hour.attempts, dots, backlog, endpoints },
    at: now(),
    missing: missing(),
    oldSnapshot: snapshot !== null && snapshot.ageMs >= oldSnapshotMs ? snapshot : null,
    ...latencyStatistics(dots.map(({ latencyMs }) => latencyMs)),
    chains: indexers.map((indexer) => indexer.status()),
  }
}

/** Versions of one read of {@link createMissingCount}, which bounds its time. */
const missingPart = 2_000
/** A restored copy lacks its newest deliveries: older ones are for the command `deliveries check`. */
const maxChecked = 100_000
const recheckMs = 60_000

/**
 * Counts missing deliveries in the background: once in the life of the console, and once a minute while there are any.
 * @returns A function that yields the count so far, and never waits.
 */
export function createMissingCount(
  { findMissing }: Pick<Queries, 'findMissing'>,
  now: () => number,
  onError: (error: unknown) => void,
): () => number {
  let missing = 0
  let checkedAt: number | null = null
  let isChecking = false

  async function check(): Promise<void> {
    let found = 0
    let beforeId: string | undefined
    for (let checked = 0; checked < maxChecked; checked += missingPart) {
      const begun = performance.now()
      const part = await findMissing({ beforeId, limit: missingPart })
      found += part.missing
      missing = Math.max(missing, found)
      if (part.lowestId === null || part.examined < missingPart) break
      beforeId = part.lowestId
      // A quarter of the time at most: SQLite blocks the process.
      await sleep(3 * (performance.now() - begun), undefined, { ref: false })
    }
    missing = found
  }

  return () => {
    const isDue = checkedAt === null || (missing > 0 && now() - checkedAt >= recheckMs)
    if (isDue && !isChecking) {
      isChecking = true
      check()
        .then(() => {
          checkedAt = now()
        }, onError)
        .finally(() => {
          isChecking = false
        })
    }
    return missing
  }
}

/** Statistics of some latencies. */
export interface LatencyStatistics {
  readonly count: number
  /** In milliseconds; null: there is none. */
  readonly p50: number | null
  readonly p95: number | null
}

/** Computes the statistics of some latencies, in milliseconds. */
export function latencyStatistics(latencies: readonly number[]): LatencyStatistics {
  const sorted = [...latencies].sort((a, b) => a - b)
  return { count: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

/** The value below which this share of sorted values lies. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

/** The counts of an hour. */
interface Hour {
  readonly payments: MinuteCounts<PaymentState | null>
  readonly attempts: MinuteCounts<AttemptKind>
}

/** After this time all minutes are read again: payments change their state later. */
const refreshMs = 30_000
const newestMs = 2 * minuteMs
/** Most rows of a read; where more happened, the oldest minutes are marked as incomplete. */
const maxRows = 20_000

/** Builds the function that reads the last hour; it reads nothing before the first call. */
export function createHourCounts(reads: Pick<Queries, 'paymentsPerMinute' | 'attemptsPerMinute'>, now: () => number) {
  let newestHour: (Hour & { readonly at: number }) | null = null
  return async (): Promise<Hour> => {
    const isWhole = newestHour === null || now() - newestHour.at >= refreshMs || now() < newestHour.at
    const start = now() - (isWhole ? hourMs : newestMs)
    const since = Math.max(0, start - (start % minuteMs))
    const [payments, attempts] = await Promise.all([
      reads.paymentsPerMinute({ since, limit: maxRows }),
      reads.attemptsPerMinute({ since, limit: maxRows }),
    ])
    const before = isWhole ? null : newestHour
    newestHour = {
      at: before?.at ?? now(),
      payments: joined(before?.payments ?? null, payments, since),
      attempts: joined(before?.attempts ?? null, attempts, since),
    }
    return newestHour
  }
}

function joined<Kind>(before: MinuteCounts<Kind> | null, after: MinuteCounts<Kind>, since: number): MinuteCounts<Kind> {
  if (before === null) return after
  const older: readonly MinuteCount<Kind>[] = before.counts.filter(({ minute }) => minute < since)
  return { counts: [...older, ...after.counts], isCut: before.isCut || after.isCut }
}

/** Counts by minute, one list for each kind. */
export interface StackedSeries {
  /** Unix seconds of each minute. */
  readonly minutes: readonly number[]
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** All charts. */
interface ChartData {
  readonly payments: StackedSeries
  readonly attempts: StackedSeries
  readonly latency: {
    /** Oldest first: unix seconds, milliseconds, 1 for a success, id of the delivery. */
    readonly dots: readonly (readonly [number, number, 0 | 1, string])[]
    readonly p50: number | null
    readonly p95: number | null
  }
}

/** Kinds of attempts, in the order of the chart. */
const attemptKinds: readonly AttemptKind[] = [
  'delivered',
  'redirect',
  'client_error',
  'server_error',
  'timeout',
  'no_answer',
]

const minutesShown = 60

/** The series of an overview: the last hour. */
export function chartData(overview: Overview): ChartData {
  const last = overview.at - (overview.at % minuteMs)
  const minutes = Array.from({ length: minutesShown }, (_, n) => last - (minutesShown - 1 - n) * minuteMs)
  const dots = [...overview.dots]
    .reverse()
    .map(
      ({ startedAt, latencyMs, reason, deliveryId }) =>
        [startedAt / 1_000, Math.round(drawn(latencyMs)), reason === null ? 1 : 0, deliveryId] as const,
    )
  return {
    payments: stacked(minutes, overview.payments.counts, [null, ...paymentStates]),
    attempts: stacked(minutes, overview.attempts.counts, attemptKinds),
    latency: { dots, p50: drawn(overview.p50), p95: drawn(overview.p95) },
  }
}

/** A logarithmic axis has no 0. */
function drawn<Ms extends number | null>(ms: Ms): Ms {
  return (ms === null ? null : Math.max(1, ms)) as Ms
}

function stacked<Kind extends string | null>(
  minutes: readonly number[],
  counts: readonly MinuteCount<Kind>[],
  kinds: readonly Kind[],
): StackedSeries {
  const byName = new Map(counts.map(({ minute, kind, count }) => [`${minute}:${kind}`, count]))
  const series = kinds.map((kind) => ({
    name: kind ?? 'none',
    values: minutes.map((minute) => byName.get(`${minute}:${kind}`) ?? 0),
  }))
  return {
    minutes: minutes.map((minute) => minute / 1_000),
    series: series.filter(({ values }) => values.some((value) => value > 0)),
  }
}
