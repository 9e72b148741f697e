/** The series of the overview's charts, as the script draws them. @module */
import { paymentStates } from '@payment-integration/contract'
import type { AttemptKind, MinuteCount } from '@payment-integration/core/ports'
import type { Overview } from './overview.js'

/** Counts by minute, one list for each kind. */
export interface StackedSeries {
  /** Unix seconds of each minute. */
  readonly minutes: readonly number[]
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
}

/** All charts. */
export interface ChartData {
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
export const attemptKinds: readonly AttemptKind[] = [
  'delivered',
  'redirect',
  'client_error',
  'server_error',
  'timeout',
  'no_answer',
]

const minuteMs = 60_000
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
