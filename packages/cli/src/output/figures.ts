/** Numbers and spans of time for people. @module */

/** `1,204,331`. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A rate, exact enough to see that it is not nothing: `1,204`, `8.3`, `0.02`. */
export function rate(perSecond: number): string {
  if (perSecond >= 10 || perSecond === 0) return grouped(perSecond)
  return perSecond.toFixed(perSecond >= 0.1 ? 1 : 2)
}

const units = [
  { name: 's', seconds: 1, upTo: 90 },
  { name: 'min', seconds: 60, upTo: 5_400 },
  { name: 'h', seconds: 3_600, upTo: 172_800 },
  { name: 'days', seconds: 86_400, upTo: Number.POSITIVE_INFINITY },
] as const

/** A span of time in its fitting unit: `45 s`, `12 min`, `3 h`, `4 days`. */
export function span(seconds: number): string {
  const unit = units.find(({ upTo }) => seconds < upTo) ?? units[0]
  return `${grouped(Math.ceil(seconds / unit.seconds))} ${unit.name}`
}

const exactUnits = [
  { name: 'days', ms: 86_400_000, from: 2 },
  { name: 'h', ms: 3_600_000, from: 1 },
  { name: 'min', ms: 60_000, from: 1 },
  { name: 's', ms: 1_000, from: 1 },
  { name: 'ms', ms: 1, from: 0 },
] as const

/**
 * A duration that somebody chose, without rounding, in the largest unit of which it is a whole number:
 * `7 days`, `24 h`, `90 min`, `500 ms`.
 */
export function duration(ms: number): string {
  const unit = exactUnits.find((each) => ms % each.ms === 0 && ms / each.ms >= each.from) ?? exactUnits[4]
  return `${grouped(ms / unit.ms)} ${unit.name}`
}
